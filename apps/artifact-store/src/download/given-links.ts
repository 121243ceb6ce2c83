import { LRUCache } from "lru-cache";

/** What a link is for. */
export interface LinkFor {
  readonly tenantId: number;
  readonly controllerId: string;
  /** The key of the object, and its size. */
  readonly key: string;
  readonly size: number;
}

/** Remembers so many devices with a file each, some 15 MB. Beyond that the oldest is forgotten, and its device gets links again. */
const maxRemembered = 50_000;
/** A device gets links to a file for its size once in so long. */
const rememberedMs = 24 * 3_600_000;

/**
 * Remembers how many bytes of a file a device has got links to. A link counts its bytes in the data volume of the tenant whether they are fetched or not,
 * so a device that asks again and again, and fetches nothing, must not use the volume up: beyond the size of the file it gets no link, and the bytes go
 * through artifact-store, where they count as they are sent.
 */
export class GivenLinks {
  readonly #given: LRUCache<string, { bytes: number }>;

  constructor(now: () => number = () => performance.now()) {
    this.#given = new LRUCache({ max: maxRemembered, ttl: rememberedMs, ttlResolution: 0, perf: { now } });
  }

  /** Takes bytes of what a device may still get links to; false where there are not so many. It is asked before the link is made, which takes a while. */
  take(link: LinkFor, bytes: number): boolean {
    const name = nameOf(link);
    const given = this.#given.get(name) ?? { bytes: 0 };
    if (given.bytes + bytes > link.size) return false;
    given.bytes += bytes;
    // the time runs from the first link on
    if (!this.#given.has(name)) this.#given.set(name, given);
    return true;
  }

  /** The opposite of `take`, where there was no link after all. */
  release(link: LinkFor, bytes: number): void {
    const given = this.#given.get(nameOf(link));
    if (given !== undefined) given.bytes = Math.max(0, given.bytes - bytes);
  }
}

const nameOf = ({ tenantId, controllerId, key }: LinkFor): string => `${tenantId}/${key}/${controllerId}`;
