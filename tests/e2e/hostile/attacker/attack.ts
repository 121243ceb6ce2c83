// The test and the attacking process exchange these values. They are plain data, because they cross a process boundary.

/** One request that is sent repeatedly. */
export interface Shot {
  readonly method: string;
  /** The path with its query, as in the request line. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body in base64, since it may be CBOR. */
  readonly body?: string;
}

/** Keeps this many requests under way at once, one of `shots` after the other. */
export interface Volley {
  readonly kind: "volley";
  readonly shots: readonly Shot[];
  readonly concurrency: number;
  /** The client hangs up after this many ms without an end; without it the client waits for the answer. */
  readonly abandonAfterMs?: number;
  /** The client reads the head of an answer and leaves the rest in the connection for this many ms. */
  readonly unreadForMs?: number;
}

/** Keeps this many connections open that never get to their end; one that is cut is opened again. */
export interface Siege {
  readonly kind: "siege";
  /** One of these texts is sent at once on each connection, in turn and unencoded. */
  readonly openings: readonly string[];
  readonly connections: number;
  /** At most this many connections are begun in a second: below what an address may request, else the rate limits end the attack before it begins. */
  readonly perSecond: number;
  /** A connection that got an answer is given up for a new one; without it the attacker ignores answers. */
  readonly untilAnswered?: boolean;
  /** This text is sent this many times as fast as it is accepted: a body that lacks its end. */
  readonly filler?: { readonly text: string; readonly times: number };
  /** Then this text is sent repeatedly, so that no idle time-out is reached. */
  readonly dribble?: { readonly text: string; readonly everyMs: number };
}

export type Attack = (Volley | Siege) & {
  readonly port: number;
  /** The local addresses to use, one after the other: each is a client of its own to the server. */
  readonly addresses: readonly string[];
};

/** What the attacker observed. */
export interface Spoils {
  /** The number of requests or connections that were begun. */
  begun: number;
  /** The number of answers by status. */
  readonly answers: Record<string, number>;
  /** The number of connections that the server ended or denied. */
  cut: number;
  /** The number that the attacker itself ended. */
  abandoned: number;
  /** The largest number of connections open at once. */
  maxOpen: number;
  /** The longest time that the server kept one of the connections of a siege. */
  maxMs: number;
}

export const noSpoils = (): Spoils => ({ begun: 0, answers: {}, cut: 0, abandoned: 0, maxOpen: 0, maxMs: 0 });
