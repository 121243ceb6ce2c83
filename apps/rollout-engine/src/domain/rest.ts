/**
 * A look at the fleet, a filter's pass or for those who may join a dynamic rollout, rests in proportion to what it took, so that a large
 * fleet costs no more of the database than a small one; and longer the more often it found nobody, so that a hundred filters that are done
 * do not keep a busy tenant's database at work.
 */
export function restAfter(tookMs: number, idle: number): { restMs: number; deafMs: number } {
  return {
    restMs: Math.min(60_000, Math.max(2_000 * 2 ** Math.min(idle, 2), 20 * tookMs)),
    deafMs: Math.min(15_000, Math.max(250 * 2 ** Math.min(idle, 3), 5 * tookMs)),
  };
}
