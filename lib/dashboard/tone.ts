// The meaning of a colour on a dashboard. Its appearance is defined by the theme.

export const tones = ['neutral', 'info', 'ok', 'warning', 'danger'] as const;
export type Tone = (typeof tones)[number];
