/** How a run ended. Each status has one exit code, and only `completed` has 0. */
export const EXIT_CODES = {
  completed: 0,
  internal_error: 1,
  config_error: 2,
  denied: 3,
  approval_required: 4,
  unverified: 5,
  limit: 6,
  model_error: 7,
  loop_detected: 8,
  auth: 9,
  quota_exhausted: 10,
  provider_unavailable: 11,
  tool_infra_error: 12,
  cancelled: 143,
} as const;
export type Status = keyof typeof EXIT_CODES;
export const STATUSES = Object.keys(EXIT_CODES) as readonly Status[];
