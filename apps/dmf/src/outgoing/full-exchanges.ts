import { backOff } from "@harrier/jobs";
import type { DeviceMessage } from "@harrier/rpc";

/** A full queue is asked again sooner than a virtual host that takes nothing: its client reads it, or a refusal costs little. */
const rests = { firstMs: 5_000, maxMs: 600_000 };
/** So many exchanges of a virtual host are known one by one; of the others it is only known that there are some. */
const maxKnown = 20;

interface Full {
  readonly tenantId: number;
  readonly vhost: string;
  /** Undefined: more exchanges than are known one by one. */
  readonly exchange: string | undefined;
  /** How often it has refused something. */
  readonly times: number;
  /** It is not tried before this time (epoch ms). */
  readonly until: number;
}

type Place = Pick<DeviceMessage, "tenantId" | "vhost" | "exchange">;

const keyOf = (vhost: string, exchange?: string): string => JSON.stringify([vhost, exchange]);

/** The exchanges that have a full queue behind them. They rest, ever longer, while the others of their virtual host get their messages. */
export class FullExchanges {
  readonly #full = new Map<string, Full>();

  /** Whether nothing is sent there yet. */
  rests({ vhost, exchange }: Place, now: number): boolean {
    return (this.#full.get(keyOf(vhost, exchange))?.until ?? 0) > now;
  }

  /**
   * The exchanges that nothing is sent to yet, as controller wants them: it does not have their things told again. An empty name says so of a tenant as a
   * whole, whose known exchanges are caught up one by one meanwhile.
   */
  resting(now: number): { tenantId: number; exchange: string }[] {
    return [...this.#full.values()].flatMap(({ tenantId, exchange = "", until }) => (until > now ? [{ tenantId, exchange }] : []));
  }

  /** Has the exchanges of refused messages rest, and answers their names. */
  refuse(messages: readonly Place[], now: number): string[] {
    const places = new Map(messages.map((message) => [keyOf(message.vhost, message.exchange), message]));
    const wholly = new Map<string, Place>();
    for (const [key, { tenantId, vhost, exchange }] of places) {
      if (this.#full.has(key) || this.#known(vhost) < maxKnown) this.#rest(key, { tenantId, vhost, exchange }, now);
      else wholly.set(keyOf(vhost), { tenantId, vhost, exchange });
    }
    for (const [key, { tenantId, vhost }] of wholly) this.#rest(key, { tenantId, vhost, exchange: undefined }, now);
    return [...places.values()].map(({ exchange }) => exchange);
  }

  /** A queue that now and then has room rests ever longer all the same; after as long as the longest rest without a refusal it is like any other. */
  forgetQuiet(now: number): void {
    for (const [key, { until }] of this.#full) if (until < now - rests.maxMs) this.#full.delete(key);
  }

  #known(vhost: string): number {
    return [...this.#full.values()].filter((full) => full.vhost === vhost && full.exchange !== undefined).length;
  }

  #rest(key: string, place: Omit<Full, "times" | "until">, now: number): void {
    const before = this.#full.get(key);
    // of those that are not known one by one some are refused while they rest: that is one refusal
    if (before !== undefined && before.until > now) return;
    const times = (before?.times ?? 0) + 1;
    this.#full.set(key, { ...place, times, until: now + backOff(times, rests) });
  }
}
