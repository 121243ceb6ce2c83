import { isTransfer, type Route } from "@harrier/contracts";
import type { Request } from "express";
import type { Context } from "./request-context.ts";
import { endOf } from "./request-end.ts";
import { TenantLimiter, type TenantLimits } from "./tenant-limiter.ts";

/** Bytes from which on a body has to wait for its turn. A compressed one always has to: it may be a hundred times as long. */
const largeBytes = 64 * 1024;
/** Parsed, the longest list of a hundred thousand members takes some 40 MB: with three at once a service stays within its memory. */
const largeLimits: TenantLimits = { perTenant: 2, total: 3, waiting: 50 };

/**
 * Lets only so many large bodies of the management interface be read, checked and worked on at once, shared among tenants. Before its turn a
 * body stays in the connection. Devices' bodies are small, or counted before they are parsed; uploads and imports take as long as their clients
 * like, and are read piece by piece.
 */
export class LargeBodies {
  readonly #limiter = new TenantLimiter(largeLimits);

  /** Runs `work`, which reads the body. Rejects at the deadline, when who reads has gone, and with tooManyRequests where too many wait. */
  async run<R extends Route, T>(route: R, ctx: Context<R>, work: () => Promise<T>): Promise<T> {
    if (route.interface !== "management" || route.body === undefined || isTransfer(route) || !isLarge(ctx.req)) return work();
    const end = endOf(ctx.req, ctx.res, ctx.deadline);
    try {
      return await this.#limiter.turnsOf(ctx.tenantId, end.signal).run(work);
    } finally {
      end.release();
    }
  }
}

function isLarge({ headers }: Request): boolean {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity") return true;
  // the gateway gives the length of every body that it reads
  return Number(headers["content-length"] ?? 0) > largeBytes;
}
