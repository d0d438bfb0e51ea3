// Connections.

export default function Connections() {
  return <h1>Connections</h1>;
}
