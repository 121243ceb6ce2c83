/** A virtual host may have others wait for so long, and gives a tenth of the time that passes back. */
const waitMs = 10_000;
const givenBack = 0.1;
/** It is slow if it takes so many times as long as another one: a broker that is slow for all has nobody passed over. */
const timesSlower = 4;
/** So much of the last round counts in what a virtual host usually takes. */
const weight = 0.5;
/** What is known of a virtual host that nothing was sent to for so long is forgotten. */
const keptMs = 600_000;

interface Known {
  /** How long a round of its messages usually takes (ms). */
  readonly usual: number;
  /** How long others have waited for it and for nobody else (ms). */
  readonly waited: number;
  readonly at: number;
}

/**
 * The virtual hosts that take everything, but slowly: one message to a thousand queues takes seconds. A page is published as a whole, so that all wait for
 * the slowest one in it.
 */
export class SlowHosts {
  readonly #known = new Map<string, Known>();

  /**
   * Notes how long (ms) each virtual host took in a round that ended at `now` (epoch ms). Answers those that others have waited for too long, and begins to
   * count anew for them.
   */
  note(round: ReadonlyMap<string, number>, now: number): string[] {
    for (const [vhost, { at }] of this.#known) if (at < now - keptMs) this.#known.delete(vhost);
    const [slowest = 0, second = 0] = [...round.values()].toSorted((one, other) => other - one);
    for (const [vhost, tookMs] of round) {
      const { usual = tookMs, waited = 0, at = now } = this.#known.get(vhost) ?? {};
      const alone = tookMs === slowest ? slowest - second : 0;
      this.#known.set(vhost, {
        usual: usual + weight * (tookMs - usual),
        waited: Math.max(waited - givenBack * (now - at), 0) + alone,
        at: now,
      });
    }
    const slow = [...round.keys()].filter((vhost) => this.#isSlow(vhost));
    for (const vhost of slow) this.#known.delete(vhost);
    return slow;
  }

  #isSlow(vhost: string): boolean {
    const { usual = 0, waited = 0 } = this.#known.get(vhost) ?? {};
    if (waited < waitMs) return false;
    const others = [...this.#known].filter(([other]) => other !== vhost).map(([, known]) => known.usual);
    return others.length > 0 && usual >= timesSlower * Math.min(...others);
  }
}
