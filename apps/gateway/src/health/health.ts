import express, { type Router } from "express";
import type { Upstreams } from "../routing/upstreams.ts";

/** GET /livez: this process runs. GET /readyz: 200 only while all five services serve, else 503 with the ones that do not. */
export function healthRouter(upstreams: Upstreams): Router {
  const router = express.Router();
  router.get("/livez", (_req, res) => {
    res.json({ live: true });
  });
  router.get("/readyz", (_req, res) => {
    const ready = upstreams.allReady();
    res.status(ready ? 200 : 503).json({ ready, services: { gateway: true, ...upstreams.states() } });
  });
  return router;
}
