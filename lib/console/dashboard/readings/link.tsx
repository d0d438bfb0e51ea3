// A link to another dashboard, and the way back. If the bar of the dashboard is hidden, the bar stays hidden.

import { t } from '../../language/language.ts';
import { linkTo, route } from '../../page/route.ts';
import type { WidgetProps } from '../widget.tsx';
import { FitText } from './fit-text.tsx';

/** The dashboards that the operator left through a link, the most recent last. */
const left: string[] = [];
const mostLeft = 50;

export function LinkWidget(props: WidgetProps<'link'>) {
  const { to, label, back } = props.widget;
  const current = () => route().params.name ?? '';
  const target = () => (back ? (left.at(-1) ?? '') : to!);
  const href = () => linkTo('dashboards', { name: target(), bare: route().params.bare });
  const leave = () => {
    if (back) left.pop();
    else {
      left.push(current());
      if (left.length > mostLeft) left.shift();
    }
  };
  return (
    <a
      class="light push link"
      href={href()}
      data-tone={props.tone?.() ?? props.widget.tone}
      aria-disabled={target() === '' && route().params.bare === '1' ? true : undefined}
      onClick={leave}
    >
      <FitText text={label ?? (back ? `‹ ${t('Back')}` : (to ?? ''))} />
      <span class="word" aria-hidden="true">
        {back ? (left.at(-1) ?? t('Dashboards')) : '›'}
      </span>
    </a>
  );
}
