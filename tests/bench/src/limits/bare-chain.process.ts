import { Agent } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import { createProxyMiddleware } from "http-proxy-middleware";

const [role, upstream] = process.argv.slice(2);
const app = express();
app.disable("x-powered-by");
app.disable("etag");
if (role === "back") {
  app.get("/:tenant/controller/v1/:controllerId", (_req, res) => {
    res.json({ config: { polling: { sleep: "00:05:00" } } });
  });
} else {
  const agent = new Agent({ keepAlive: true, maxSockets: 512 });
  app.use(createProxyMiddleware({ target: `http://127.0.0.1:${upstream}`, agent }));
}
const server = app.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("disconnect", () => process.exit(0));
