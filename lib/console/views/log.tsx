// Log.

export default function Log() {
  return <h1>Log</h1>;
}
