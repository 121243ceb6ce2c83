/**
 * A scan of the fleet (a filter's pass, or the search for targets that join a dynamic rollout) is followed by a cooldown in proportion to
 * its duration, so that a large fleet costs no more of the database than a small one. The cooldown grows with every scan that finds no
 * target, so that a hundred finished filters do not keep a busy tenant's database at work.
 */
export function cooldownAfter(tookMs: number, idle: number): { cooldownMs: number; debounceMs: number } {
  return {
    cooldownMs: Math.min(60_000, Math.max(2_000 * 2 ** Math.min(idle, 2), 20 * tookMs)),
    debounceMs: Math.min(15_000, Math.max(250 * 2 ** Math.min(idle, 3), 5 * tookMs)),
  };
}
