import express, { type Router } from "express";
import type { Upstreams } from "../routing/upstreams.ts";

/**
 * GET /livez: this process runs. GET /readyz: 200 only while all five services serve, else 503 with the ones that do not; after a start
 * not before sign-in can work.
 */
export function healthRouter(upstreams: Pick<Upstreams, "allReady" | "states">, canSignIn: () => boolean): Router {
  const router = express.Router();
  router.get("/livez", (_req, res) => {
    res.json({ live: true });
  });
  router.get("/readyz", (_req, res) => {
    const gateway = canSignIn();
    const ready = gateway && upstreams.allReady();
    res.status(ready ? 200 : 503).json({ ready, services: { gateway, ...upstreams.states() } });
  });
  return router;
}
