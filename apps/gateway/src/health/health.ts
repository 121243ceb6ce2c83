import express, { type Router } from "express";
import type { Upstreams } from "../routing/upstreams.ts";

interface HealthDeps {
  upstreams: Pick<Upstreams, "allReady" | "states" | "wrongClocks" | "isOwnClockWrong">;
  /** After a start it is false until sign-in can work. */
  canSignIn(): boolean;
  /** Returns true from the signal to stop on. */
  isDraining(): boolean;
  now(): number;
}

/** A started gateway accepts requests after this time even if an owner is unavailable: devices poll without management. */
const startMs = 10_000;

/**
 * GET /livez says that this process runs. GET /readyz says that the installation is up: 200 only while all five services serve, else 503 with the
 * ones that do not. Its `clocks` names replicas whose clocks differ from ours by more than services accept of each other, with the seconds that they
 * are ahead; such a replica does not count as serving. GET /readyz/self is for balancers: 200 while this gateway accepts requests, 503 until it can,
 * while its own clock seems to be wrong (services deny what it signs), and from the signal to stop on. Both of the latter answer `{ ready }`.
 */
export function healthRouter({ upstreams, canSignIn, isDraining, now }: HealthDeps): Router {
  const router = express.Router();
  const startedAt = now();
  router.get("/livez", (_req, res) => {
    res.json({ live: true });
  });
  router.get("/readyz", (_req, res) => {
    const gateway = canSignIn() && !isDraining();
    const ready = gateway && upstreams.allReady();
    const clocks = upstreams.wrongClocks();
    const wrong = Object.keys(clocks).length > 0 ? { clocks } : {};
    res.status(ready ? 200 : 503).json({ ready, services: { gateway, ...upstreams.states() }, ...wrong });
  });
  router.get("/readyz/self", (_req, res) => {
    const ready = !isDraining() && !upstreams.isOwnClockWrong() && (canSignIn() || now() - startedAt >= startMs);
    res.status(ready ? 200 : 503).json({ ready });
  });
  return router;
}
