// Whether people can read a page: how large its letters and targets are, what is cut off, covered, or too pale. The expressions run in
// the page.

/** The least size of letters, and of what a finger meets, in pixels. */
export const leastLetters = 11;
export const leastTarget = 44;

const shared = `
  const nameOf = (element) => element.tagName.toLowerCase() + '.' + element.className + ' ' + (element.textContent || element.ariaLabel || '').trim().slice(0, 30);
  const isSeen = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('svg, .skip, dialog:not([open])') && !getComputedStyle(element).clipPath.includes('inset');
  const textsOf = function* () {
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode;
      if (text.data.trim() !== '' && text.parentElement.tagName !== 'OPTION' && isSeen(text.parentElement)) yield text;
    }
  };
  const rectsOf = (text, from = 0, to = text.data.length) => {
    const range = document.createRange();
    range.setStart(text, from);
    range.setEnd(text, to);
    return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
  };
`;

/** Says what is wrong with the page in view, a line each. */
export const look = (isForFingers: boolean) => `((leastLetters, leastTarget, isForFingers) => {
  ${shared}
  const faults = new Set();
  const scaleOf = (element) => (element.offsetWidth ? element.getBoundingClientRect().width / element.offsetWidth : 1) || 1;
  for (const text of textsOf()) {
    const element = text.parentElement;
    if (element.closest('.stage')) continue; // a preview of a panel is smaller than the screen that it shows
    const size = parseFloat(getComputedStyle(element).fontSize) * scaleOf(element.closest('.box') ?? document.body);
    const least = innerHeight >= 2000 && !element.closest('.canvas') ? innerHeight / 100 : leastLetters;
    if (size < least - 0.05) faults.add('letters of ' + size.toFixed(1) + ' px: ' + nameOf(element));
    for (const { 0: word, index } of text.data.matchAll(/[\\p{L}\\p{N}]+/gu)) {
      if (new Set(rectsOf(text, index, index + word.length).map(({ top }) => Math.round(top))).size > 1) faults.add('a word in two: ' + word);
    }
  }
  for (const element of document.querySelectorAll('button, a.button, nav a, input, select, textarea, .cap')) {
    if (!isSeen(element) || element.closest('.canvas .plane, .stage')) continue;
    const { left, right, width, height, top, bottom } = element.getBoundingClientRect();
    if (left < -1 || right > innerWidth + 1) faults.add('cut off at the side: ' + nameOf(element));
    const scroller = element.closest('.scroll, .bar, .detail, .rule-panel, .panel-page');
    if (scroller && right > scroller.getBoundingClientRect().right + 1) faults.add('cut off: ' + nameOf(element));
    if (isForFingers && (element.type === 'range' || element.type === 'checkbox')) continue;
    const least = element.closest('nav') ? 38 : leastTarget; // seven views share the height of a phone on its side
    if (isForFingers && (width < 24 || height < least - 0.5)) faults.add('small for a finger, ' + width.toFixed() + ' × ' + height.toFixed() + ': ' + nameOf(element));
  }
  for (const name of document.querySelectorAll('.row .name'))
    if (isSeen(name) && name.clientWidth < 150) faults.add('an address has ' + name.clientWidth + ' px');
  for (const name of document.querySelectorAll('.widget .name'))
    if (name.textContent.trim() && name.clientHeight < leastLetters) faults.add('a name has ' + name.clientHeight + ' px: ' + name.textContent);
  for (const scroller of document.querySelectorAll('.scroll, .bar, main, .panel-page, .detail'))
    if (scroller.scrollWidth > scroller.clientWidth + 1) faults.add('it scrolls to the side: ' + nameOf(scroller));
  if (document.documentElement.scrollWidth > innerWidth) faults.add('the page scrolls to the side');
  return [...faults];
})(${leastLetters}, ${leastTarget}, ${isForFingers})`;

/**
 * Says which texts are cut off or covered. A name that people gave may be cut where it says all of itself to the pointer; a value, a
 * time, a number never.
 */
export const cut = `(() => {
  ${shared}
  const faults = new Set();
  const isName = (element) => {
    const name = element.closest('.truncate');
    if (name === null || element.closest('output, time, .amount')) return false;
    const title = name.closest('[title]')?.title ?? '';
    return title.includes(name.textContent.trim()) || name.tagName === 'CODE' || name.classList.contains('value');
  };
  for (const text of textsOf()) {
    const element = text.parentElement;
    if (isName(element) || element.closest('.stage')) continue;
    // Spaces at the end of a line may hang over.
    for (const rect of [...text.data.matchAll(/\\S+/g)].slice(0, 100).flatMap(({ 0: word, index }) => rectsOf(text, index, index + word.length))) {
      let visible = { left: 0, right: innerWidth, top: -1e9, bottom: 1e9 };
      let isOut = false;
      let isScrolled = element.closest('.canvas') !== null;
      for (let around = element; around && around !== document.body; around = around.parentElement) {
        const style = getComputedStyle(around);
        if (style.position === 'fixed' || around.matches('.canvas')) break; // people move the plane of the canvas
        if (style.overflowX === 'visible' && style.overflowY === 'visible') continue;
        const box = around.getBoundingClientRect();
        if (/auto|scroll/.test(style.overflowX + style.overflowY)) {
          isScrolled = true;
          if (rect.top < box.top - 1 || rect.bottom > box.bottom + 1) isOut = true;
        }
        if (/hidden|clip/.test(style.overflowX) || (/auto|scroll/.test(style.overflowX) && around.scrollWidth <= around.clientWidth + 1)) {
          if (rect.left < box.left - 1 || rect.right > box.right + 1) faults.add('cut at the side: "' + text.data.trim().slice(0, 40) + '" in ' + nameOf(around).slice(0, 60));
        }
        if (/hidden|clip/.test(style.overflowY) && (rect.bottom < box.top + 2 || rect.bottom > box.bottom + rect.height / 3) && !around.closest('.tight')) faults.add('cut below: "' + text.data.trim().slice(0, 40) + '" in ' + nameOf(around).slice(0, 60));
      }
      if (!isScrolled && (rect.right > innerWidth + 1 || rect.left < -1)) faults.add('out of the page: "' + text.data.trim().slice(0, 40) + '"');
      const [x, y] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
      if (isOut || x < 0 || y < 0 || x > innerWidth || y > innerHeight) continue;
      const above = document.elementFromPoint(x, y);
      const isEmpty = above !== null && above.textContent.trim() === '' && getComputedStyle(above).backgroundColor === 'rgba(0, 0, 0, 0)';
      const isItself = above === null || isEmpty || above.contains(element) || element.contains(above) || above.closest('button, a, label') === element.closest('button, a, label');
      // What scrolls goes below what stands, and a page with a dashboard or the page of a parameter lies over all.
      if (!isItself && !above.closest('thead, .head, .bar, header, nav, dialog, .canvas, .panel-page > .bar, .detail, .rule-panel, .rail') && !element.closest('.rail, .shell > header, nav, .canvas'))
        if (!(above.closest('.panel-page') && !element.closest('.panel-page'))) faults.add('covered: "' + text.data.trim().slice(0, 40) + '" by ' + nameOf(above).slice(0, 60));
    }
  }
  for (const field of document.querySelectorAll('input:not([type=range], [type=checkbox])'))
    if (isSeen(field) && field.value !== '' && field.scrollWidth > field.clientWidth + 1) faults.add('a field is cut: ' + field.value);
  return [...faults];
})()`;

/** Says which texts are too pale for what is behind them: 4.5 : 1, large ones 3 : 1 (WCAG 2.2, 1.4.3). `atMs`: of what moves, this moment. */
export const pale = (atMs = 0) => `((atMs) => {
  ${shared}
  for (const animation of document.getAnimations()) {
    animation.pause();
    animation.currentTime = atMs;
  }
  const pen = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const colourOf = (text) => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = text;
    pen.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const probe = document.documentElement.appendChild(document.createElement('i'));
  probe.style.backgroundColor = 'Canvas'; // what the browser itself puts behind a page
  const canvas = colourOf(getComputedStyle(probe).backgroundColor);
  probe.remove();
  const over = ([r, g, b, a], [red, green, blue]) => [r * a + red * (1 - a), g * a + green * (1 - a), b * a + blue * (1 - a), 1];
  const luminance = (rgb) => rgb.slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)).reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (element) => {
    const layers = [];
    for (let around = element; around; around = around.parentElement) layers.push([colourOf(getComputedStyle(around).backgroundColor), Number(getComputedStyle(around).opacity)]);
    return layers.reverse().reduce((below, [colour, opacity]) => over([colour[0], colour[1], colour[2], colour[3] * opacity], below), canvas);
  };
  const faults = new Set();
  for (const text of textsOf()) {
    const element = text.parentElement;
    if (element.closest(':disabled, .rail, [aria-hidden=true], .widget.old')) continue;
    const style = getComputedStyle(element);
    let alpha = 1;
    for (let around = element; around; around = around.parentElement) alpha *= Number(getComputedStyle(around).opacity);
    const ground = behind(element);
    const [red, green, blue, own] = colourOf(style.color);
    const letters = over([red, green, blue, own * alpha], ground);
    const [light, dark] = [luminance(letters), luminance(ground)].sort((one, other) => other - one);
    const contrast = (light + 0.05) / (dark + 0.05);
    const size = parseFloat(style.fontSize);
    const least = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (contrast < least - 0.01) faults.add('pale, ' + contrast.toFixed(2) + ' : 1: ' + nameOf(element));
  }
  for (const animation of document.getAnimations()) animation.play();
  return [...faults];
})(${atMs})`;

/** Says which texts and controls of a widget lie over one another, and which parts of a widget reach out of it. */
export const overlapping = `(() => {
  ${shared}
  const faults = new Set();
  const parts = new Map();
  const add = (element, rect) => {
    const widget = element.closest('.widget');
    if (widget === null || widget.matches('.old') || element.closest('.trouble, .formula-fault, .wanted')) return;
    if (!parts.has(widget)) parts.set(widget, []);
    const edge = element.closest('.truncate')?.getBoundingClientRect().right ?? Number.POSITIVE_INFINITY; // the rest is cut off, with a tooltip
    parts.get(widget).push({ element, rect: { left: rect.left, top: rect.top, right: Math.min(rect.right, edge), bottom: rect.bottom } });
  };
  for (const text of textsOf()) for (const rect of rectsOf(text)) add(text.parentElement, rect);
  for (const element of document.querySelectorAll('.widget :is(button, input:not([type=range]), select, textarea, .track, .rail, .dial, .big-icon, .led, canvas, img)'))
    if (element.checkVisibility()) add(element, element.getBoundingClientRect());
  for (const [widget, all] of parts) {
    const scrolled = (element) => element.closest('.event-table, .lamps, .next-list, .tab-list');
    const box = widget.getBoundingClientRect();
    for (const { element, rect } of all)
      if (!scrolled(element) && !element.closest('.tight, .truncate') && (rect.left < box.left - 1 || rect.right > box.right + 1 || rect.top < box.top - 2 || rect.bottom > box.bottom + 2))
        faults.add('out of its widget: ' + nameOf(element));
    for (const [index, one] of all.entries())
      for (const other of all.slice(index + 1)) {
        if (one.element.contains(other.element) || other.element.contains(one.element)) continue;
        const wide = Math.min(one.rect.right, other.rect.right) - Math.max(one.rect.left, other.rect.left);
        const high = Math.min(one.rect.bottom, other.rect.bottom) - Math.max(one.rect.top, other.rect.top);
        if (wide < 2 || high < 3) continue; // lines of text may touch
        if (scrolled(one.element) || scrolled(other.element)) continue;
        if ([one, other].some(({ element }) => element.matches('.dial')) && [one, other].some(({ element }) => element.closest('.amount, .extent'))) continue; // in the middle of the arc
        faults.add('one over the other, ' + wide.toFixed() + ' × ' + high.toFixed() + ': ' + nameOf(one.element) + ' and ' + nameOf(other.element));
      }
  }
  return [...faults];
})()`;
