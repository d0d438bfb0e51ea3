// Icons: one stroke in the text colour, in a square of 24.

export function Icon(props: { readonly path: string }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
      <path d={props.path} />
    </svg>
  );
}
