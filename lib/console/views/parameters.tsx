// Parameters.

export default function Parameters() {
  return <h1>Parameters</h1>;
}
