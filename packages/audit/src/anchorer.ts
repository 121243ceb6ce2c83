import type { Queryable, Signer } from "@harrier/db";
import { type AuditSchema, addAnchor, type ForeignHead, readHeads } from "./anchor.sql.ts";
import { signAnchor } from "./anchor.ts";

interface Deps {
  readonly db: Queryable;
  /** Of the service that looks at the others. */
  readonly schema: AuditSchema;
  /** Without it anchors are protected by the rights of the database alone. */
  readonly signer?: Signer | undefined;
  readonly log: { warn(fields: object, message: string): void; error(fields: object, message: string): void };
}

const everyMs = 10_000;

/** Notes the ends of the other services' chains as they are now; returns those that no longer hold what had been seen of them before. */
export async function anchorHeads({ db, schema, signer }: Omit<Deps, "log">): Promise<ForeignHead[]> {
  const heads = await readHeads(db, schema);
  for (const { service, number, position, hash, sealedAt, now, known } of heads) {
    if (known || number === 0) continue;
    await addAnchor(db, signAnchor(signer, { seenBy: schema, service, number, position, hash, sealedAt, anchoredAt: now }));
  }
  return heads.filter(({ kept, number, anchored }) => !kept || (anchored !== null && number < anchored));
}

/** Looks every ten seconds, and at once at its start. */
export class Anchorer {
  readonly #deps: Deps;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;
  #failing = false;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  start(): void {
    this.#running = this.#round().finally(() => {
      if (this.#stopped) return;
      this.#timer = setTimeout(() => this.start(), everyMs);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#running;
  }

  async #round(): Promise<void> {
    const { log, schema } = this.#deps;
    try {
      for (const { service, number, anchored } of await anchorHeads(this.#deps))
        log.error({ seenBy: schema, service, batch: anchored, end: number }, "audit: a trail no longer holds a batch that it held before");
      this.#failing = false;
    } catch (err) {
      // once per outage
      if (!this.#failing) log.warn({ err, schema }, "audit: the other services' trails cannot be anchored; they will be");
      this.#failing = true;
    }
  }
}
