/** What stderr can show of the work. `auto` is live where the screen can do that, and `steps` elsewhere. */
export const PROGRESS_CHOICES = ['auto', 'steps', 'heartbeat', 'none'] as const;
export type ProgressChoice = (typeof PROGRESS_CHOICES)[number];
