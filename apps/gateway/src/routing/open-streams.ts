import type { ServerResponse } from "node:http";
import { isDeepStrictEqual } from "node:util";
import { HarrierError } from "@harrier/errors";
import type { Principal } from "@harrier/rpc";

/** A user follows events at so many places at a time; the tabs of a browser share one stream. */
export const streamsOfUser = 16;

const tooMany = new HarrierError("tooManyRequests", undefined, { headers: { "retry-after": "5" } });

/** Whose streams are checked; `userId` 0 means every user of the tenant. */
interface Changed {
  readonly tenantId: number;
  readonly userId: number;
}

interface Stream {
  readonly principal: Principal;
  readonly signIn: () => Promise<Principal>;
  /** It is being checked; `stale` if something has changed since that began. */
  checking: boolean;
  stale: boolean;
}

/**
 * The streams of events that are open at this gateway. What a user may see is decided when a stream begins. So it ends when its credential holds no more,
 * or for something else, after a change of the user: its client opens another one, and signs in for that.
 */
export class OpenStreams {
  readonly #open = new Map<ServerResponse, Stream>();
  readonly #ofUser = new Map<string, number>();

  /** Counts a stream and returns what ends the counting; throws tooManyRequests if its user has too many. `signIn` signs in once more. */
  begin(principal: Principal, res: ServerResponse, signIn: () => Promise<Principal>): () => void {
    const user = `${principal.tenantId} ${principal.issuer ?? ""} ${principal.subject}`;
    const own = this.#ofUser.get(user) ?? 0;
    if (own >= streamsOfUser) throw tooMany;
    this.#ofUser.set(user, own + 1);
    const stream = { principal, signIn, checking: false, stale: false };
    this.#open.set(res, stream);
    // A change may have been heard while the user was still being signed in; where none was, the answer is known and costs no call.
    void this.#check(res, stream);
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

  /** Checks the streams of a user who has changed, and those of which only an issuer knows the user. */
  check({ tenantId, userId }: Changed): void {
    for (const [res, stream] of this.#open) {
      const { principal } = stream;
      const isOf = userId === 0 || principal.userId === undefined || principal.userId === userId;
      if (principal.tenantId === tenantId && isOf) void this.#check(res, stream);
    }
  }

  /** Checks all of them: nobody knows what has changed meanwhile. */
  checkAll(): void {
    for (const [res, stream] of this.#open) void this.#check(res, stream);
  }

  async #check(res: ServerResponse, stream: Stream): Promise<void> {
    stream.stale = true;
    if (stream.checking) return;
    stream.checking = true;
    while (stream.stale) {
      stream.stale = false;
      // Whoever cannot be asked for is signed in no more: the client tries again, and is told why.
      const now = await stream.signIn().catch(() => undefined);
      if (!isDeepStrictEqual(now, stream.principal)) {
        res.destroy();
        return;
      }
    }
    stream.checking = false;
  }
}
