// What the test tells the attacking process, and what that tells back. Plain data: it crosses a process boundary.

/** One request that is sent again and again. */
export interface Shot {
  readonly method: string;
  /** With its query, as it stands in the request line. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Base64, for CBOR among others. */
  readonly body?: string;
}

/** Keeps so many requests under way at once, one of `shots` after the other. */
export interface Volley {
  readonly kind: "volley";
  readonly shots: readonly Shot[];
  readonly atOnce: number;
  /** Hangs up after so many ms without an end; without it an answer is waited for. */
  readonly abandonAfterMs?: number;
  /** Takes the head of an answer and leaves the rest in the connection for so many ms. */
  readonly unreadForMs?: number;
}

/** Keeps so many connections open that never get to their end; one that is cut is opened again. */
export interface Siege {
  readonly kind: "siege";
  /** Sent at once on each connection, one of them after the other: as text, byte by byte. */
  readonly openings: readonly string[];
  readonly connections: number;
  /** At most so many are begun in a second: below what an address may ask, else the limits of rates end the attack before it begins. */
  readonly perSecond: number;
  /** One that got an answer is given up for a new one; without it the attacker goes on as if there had been none. */
  readonly untilAnswered?: boolean;
  /** Sent so many times as fast as it is taken: a body that lacks its end. */
  readonly filler?: { readonly text: string; readonly times: number };
  /** Then this text again and again, so that no idle time-out is reached. */
  readonly dribble?: { readonly text: string; readonly everyMs: number };
}

export type Attack = (Volley | Siege) & {
  readonly port: number;
  /** Local addresses to come from, one after the other: to the server each is a client of its own. */
  readonly addresses: readonly string[];
};

/** What the attacker saw. */
export interface Spoils {
  /** Requests or connections that were begun. */
  begun: number;
  /** Answers by status. */
  readonly answers: Record<string, number>;
  /** Connections that the server ended or refused. */
  cut: number;
  /** Ended by the attacker itself. */
  abandoned: number;
  /** Most connections open at once. */
  mostOpen: number;
  /** The longest time that one of the connections of a siege was kept by the server. */
  longestMs: number;
}

export const noSpoils = (): Spoils => ({ begun: 0, answers: {}, cut: 0, abandoned: 0, mostOpen: 0, longestMs: 0 });
