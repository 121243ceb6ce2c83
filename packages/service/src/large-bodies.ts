import { isTransfer, type Route } from "@harrier/contracts";
import type { Request } from "express";
import type { Context } from "./request-context.ts";
import { endOf } from "./request-end.ts";
import { TenantLimiter, type TenantLimits } from "./tenant-limiter.ts";

/** A body from this size on has to be admitted. A compressed one always has to, because it may expand a hundredfold. */
const largeBytes = 64 * 1024;
/** Parsed, the longest list of a hundred thousand members takes some 40 MB: with three at a time a service stays within its memory. */
const largeLimits: TenantLimits = { perTenant: 2, total: 3, waiting: 50 };

/**
 * Limits how many large bodies of the management interface are read, checked and processed at a time, shared among tenants. Until it is admitted a
 * body stays in the connection. Bodies of devices are small, or counted before they are parsed; uploads and imports are read piece by piece and may
 * take any time.
 */
export class LargeBodies {
  readonly #limiter = new TenantLimiter(largeLimits);

  /** Runs `work`, which reads the body. Rejects at the deadline, when the client has gone, and with tooManyRequests if too many wait. */
  async run<R extends Route, T>(route: R, ctx: Context<R>, work: () => Promise<T>): Promise<T> {
    if (route.interface !== "management" || route.body === undefined || isTransfer(route) || !isLarge(ctx.req)) return work();
    const end = endOf(ctx.req, ctx.res, ctx.deadline);
    try {
      return await this.#limiter.limiterOf(ctx.tenantId, end.signal).run(work);
    } finally {
      end.release();
    }
  }
}

function isLarge({ headers }: Request): boolean {
  const coding = headers["content-encoding"];
  if (coding !== undefined && coding !== "identity") return true;
  // the gateway sets the length of every body that it has read
  return Number(headers["content-length"] ?? 0) > largeBytes;
}
