// Dashboards.

export default function Dashboards() {
  return <h1>Dashboards</h1>;
}
