// The meaning of a colour on a dashboard. The theme defines its appearance.

export const tones = ['neutral', 'info', 'ok', 'warning', 'danger'] as const;
export type Tone = (typeof tones)[number];
