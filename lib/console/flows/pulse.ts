// Shows that values move: a line or a label lights up and fades when a value has come along it.

const fadeMs = 700;
const calm = matchMedia('(prefers-reduced-motion: reduce)');

/** Lights a line up. Whoever wants no motion sees it thick for the same time. */
export function pulse(line: SVGPathElement): void {
  const length = line.getTotalLength();
  const lit = { stroke: 'var(--accent)', strokeWidth: '3px' };
  line.animate(
    calm.matches
      ? [lit, lit]
      : [
          { ...lit, strokeDasharray: `0 ${length} ${length}` },
          { ...lit, strokeDasharray: `${length} 0 ${length}`, offset: 0.5 },
          { strokeDasharray: `${length} 0 ${length}` },
        ],
    { duration: fadeMs, easing: 'ease-out' },
  );
}

/** Starts the animation of a class again. */
export function restartAnimation(element: Element, name: string): void {
  const running = element.getAnimations();
  element.classList.add(name);
  for (const animation of running) {
    animation.cancel();
    animation.play();
  }
}
