/** What stderr can show of the work. `auto` is live if the terminal supports it, else `steps`. */
export const PROGRESS_CHOICES = ['auto', 'steps', 'heartbeat', 'none'] as const;
export type ProgressChoice = (typeof PROGRESS_CHOICES)[number];
