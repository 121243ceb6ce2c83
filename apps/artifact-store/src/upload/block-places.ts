import { HarrierError } from "@harrier/errors";
import { TenantLimiter, type TenantLimits } from "@harrier/service";
import { type Memory, partSize } from "../storage/storage.ts";

/** Of uploads in one request so many blocks are in memory at a time, whoever sends them; other uploads wait in their connections. */
const blockLimits: TenantLimits = { perTenant: 4, total: 16, waiting: 60 };

/** A block has to come within this time, however steadily: a slow sender must not keep the places of others. */
const blockMs = 600_000;

/** The gateway gives up a minute after the last byte; whoever has waited for so long is told before that, so that it knows when to come again. */
const waitMs = 45_000;

export interface PlacesOptions {
  readonly limits?: TenantLimits;
  readonly blockMs?: number;
  readonly waitMs?: number;
}

/** What an upload does when its bytes have to wait for us, and when it has a place again. */
export interface Waiting {
  readonly onWait: () => void;
  readonly onPlace: () => void;
}

/** Shares the memory for blocks among the uploads in one request of a replica: tenants take turns, and within a tenant its uploads do. */
export function createBlockPlaces(options: PlacesOptions = {}): (tenantId: number, waiting: Waiting) => Memory {
  const limiter = new TenantLimiter(options.limits ?? blockLimits);
  return (tenantId, { onWait, onPlace }) => {
    const gaveUp = new AbortController();
    const ofUpload = limiter.limiterOf(tenantId, gaveUp.signal);
    return {
      async take(source, work) {
        const tooLong = () => gaveUp.abort(new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "5" } }));
        const waits = setTimeout(tooLong, options.waitMs ?? waitMs);
        onWait();
        try {
          return await ofUpload.run(async () => {
            clearTimeout(waits);
            onPlace();
            const slow = new HarrierError("requestTimeout", `${partSize} bytes took too long; a slow sender uploads in parts.`);
            const cut = setTimeout(() => source.destroy(slow), options.blockMs ?? blockMs);
            try {
              return await work();
            } finally {
              clearTimeout(cut);
            }
          });
        } finally {
          clearTimeout(waits);
        }
      },
    };
  };
}
