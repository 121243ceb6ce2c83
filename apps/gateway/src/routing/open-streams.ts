import type { ServerResponse } from "node:http";
import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";

/** A user follows events at so many places at a time; the tabs of a browser share one stream. */
export const streamsOfUser = 16;

const tooMany = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "5" } });

/** Whose streams end; `userId` 0 means every user of the tenant. */
interface Changed {
  readonly tenantId: number;
  readonly userId: number;
}

/**
 * The streams of events that are open at this gateway. What a user may see is decided when a stream begins, so it ends when the user has changed, or
 * one of its sessions has ended: its client opens another one, and signs in for that.
 */
export class OpenStreams {
  readonly #open = new Map<ServerResponse, Principal>();
  readonly #ofUser = new Map<string, number>();

  /** Counts a stream and returns what ends the counting; throws tooManyRequests if its user has too many. */
  begin(principal: Principal, res: ServerResponse): () => void {
    const user = `${principal.tenantId} ${principal.issuer ?? ""} ${principal.subject}`;
    const own = this.#ofUser.get(user) ?? 0;
    if (own >= streamsOfUser) throw tooMany;
    this.#ofUser.set(user, own + 1);
    this.#open.set(res, principal);
    return () => {
      this.#open.delete(res);
      const left = (this.#ofUser.get(user) ?? 1) - 1;
      if (left === 0) this.#ofUser.delete(user);
      else this.#ofUser.set(user, left);
    };
  }

  isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Ends the streams of a user who has changed, and those of which only an issuer knows the user. */
  end({ tenantId, userId }: Changed): void {
    for (const [res, principal] of this.#open) {
      const isOf = userId === 0 || principal.userId === undefined || principal.userId === userId;
      if (principal.tenantId === tenantId && isOf) res.destroy();
    }
  }

  /** Ends all of them: nobody knows what has changed meanwhile. */
  endAll(): void {
    for (const res of this.#open.keys()) res.destroy();
  }
}
