// The tones: the meanings that a colour can have on a dashboard. The theme defines the colours.

export const tones = ['neutral', 'info', 'ok', 'warning', 'danger'] as const;
export type Tone = (typeof tones)[number];
