import type { Egress } from "@harrier/egress";
import { EgressError } from "@harrier/egress";
import { signed } from "./signature.ts";

/** What is told of an event, for the log of deliveries. */
export interface Sendable {
  readonly id: string;
  readonly type: string;
  readonly subject: string;
}

export interface Receiver {
  readonly tenant: string;
  readonly url: string;
  /** The secret itself, `whsec_…`. */
  readonly secret: string;
}

export interface Attempt {
  readonly eventId: string;
  readonly type: string;
  readonly subject: string;
  /** When it began, epoch ms. */
  readonly at: number;
  readonly attempt: number;
  readonly delivered: boolean;
  readonly status: number | null;
  readonly ms: number;
  readonly error: string | null;
}

/** A receiver has so long for its whole answer: the recommendation of Standard Webhooks is 15 to 30 s. */
export const timeoutMs = 15_000;
/** The body of an answer is not used; it is read so far that a connection ends in an orderly way. */
const maxBytes = 4_096;

/** Sends one event, signed. It never rejects: what went wrong is in the attempt. A status from 200 to 299 accepts the event. */
export async function sendEvent(
  { egress, now }: { egress: Egress; now: () => number },
  { tenant, url, secret }: Receiver,
  { event, attempt, signal }: { event: Sendable; attempt: number; signal?: AbortSignal },
): Promise<Attempt> {
  const at = now();
  const body = JSON.stringify(event);
  const headers = {
    "content-type": "application/cloudevents+json; charset=UTF-8",
    "user-agent": "Harrier-Webhooks/1",
    ...signed(secret, { id: event.id, at, body }),
  };
  const told = { eventId: event.id, type: event.type, subject: event.subject, at, attempt };
  try {
    const limits = { timeoutMs, maxBytes, ...(signal === undefined ? {} : { signal }) };
    const { status } = await egress.request({ tenant, url, method: "POST", headers, body, ...limits });
    const delivered = status >= 200 && status < 300;
    return { ...told, delivered, status, ms: now() - at, error: delivered ? null : `The receiver answered ${status}.` };
  } catch (error) {
    const problem = error instanceof EgressError ? error.message : "The event could not be sent.";
    return { ...told, delivered: false, status: null, ms: now() - at, error: problem };
  }
}
