// Flows.

export default function Flows() {
  return <h1>Flows</h1>;
}
