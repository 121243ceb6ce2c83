import { type IncomingMessage, request } from "node:http";
import type { Attack, Shot, Spoils, Volley } from "./attack.ts";

/** A client whose request is denied comes again, but not a hundred thousand times a second. */
const againMs = 5;

/** Begins a volley; the returned function ends it. */
export function fire(attack: Attack & Volley, spoils: Spoils): () => void {
  const bodies = attack.shots.map(({ body }) => (body === undefined ? undefined : Buffer.from(body, "base64")));
  let over = false;
  let next = 0;
  let open = 0;

  function shoot(): void {
    if (over) return;
    const n = next++;
    const shot = attack.shots[n % attack.shots.length] as Shot;
    const body = bodies[n % attack.shots.length];
    spoils.begun += 1;
    open += 1;
    spoils.maxOpen = Math.max(spoils.maxOpen, open);
    const sent = request({
      host: "127.0.0.1",
      port: attack.port,
      localAddress: attack.addresses[n % attack.addresses.length],
      method: shot.method,
      path: shot.path,
      headers: { ...shot.headers, ...(body === undefined ? {} : { "content-length": String(body.length) }) },
      agent: false,
    });
    let [gone, given, answered] = [false, false, false];
    const again = (): void => {
      if (gone) return;
      gone = true;
      open -= 1;
      if (given) spoils.abandoned += 1;
      else if (!answered) spoils.cut += 1;
      setTimeout(shoot, againMs);
    };
    const giveUp = (): void => {
      given = !answered;
      sent.destroy();
    };
    if (attack.abandonAfterMs !== undefined) setTimeout(giveUp, attack.abandonAfterMs);
    sent.on("response", (answer: IncomingMessage) => {
      answered = true;
      const status = String(answer.statusCode);
      spoils.answers[status] = (spoils.answers[status] ?? 0) + 1;
      answer.on("error", () => undefined);
      if (attack.unreadForMs === undefined) answer.resume();
      else setTimeout(() => sent.destroy(), attack.unreadForMs);
    });
    sent.on("error", () => undefined).on("close", again);
    sent.end(body);
  }

  for (let n = 0; n < attack.concurrency; n += 1) shoot();
  return () => {
    over = true;
  };
}
