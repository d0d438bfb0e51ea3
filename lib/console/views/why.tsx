// Why.

export default function Why() {
  return <h1>Why</h1>;
}
