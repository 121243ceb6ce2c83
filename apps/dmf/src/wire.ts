import { fileURLToPath } from "node:url";
import { createJobs, type Jobs } from "@harrier/jobs";
import { createClient, parseKeys } from "@harrier/rpc";
import {
  backgroundWork,
  createHttp,
  createMetrics,
  describeNode,
  drainOf,
  faultPoint,
  type Log,
  type Stoppable,
  tlsOf,
} from "@harrier/service";
import type { DmfConfig } from "./config.ts";
import { Refusals } from "./incoming/refusals.ts";
import { type JobName, jobs as jobList } from "./jobs.ts";
import { createMessageMetrics } from "./message-metrics.ts";
import { createSender } from "./outgoing/send-messages.ts";
import { tellProcess } from "./tell-process.ts";
import { Tenants } from "./tenants.ts";

/** Builds the whole service and starts it; returns what has to be stopped. */
export async function startDmf(config: DmfConfig, log: Log): Promise<readonly Stoppable[]> {
  const keys = parseKeys(config.HARRIER_IDENTITY_KEYS, "dmf");
  const mutualTls = tlsOf(config);
  const tls = mutualTls === undefined ? {} : { tls: mutualTls };
  const metrics = createMetrics({ service: "dmf" });
  const counted = createMessageMetrics(metrics.registry, () => tenants.counts());
  const controller = createClient("harrier.controller.v1.DeviceMessagesService", {
    caller: "dmf",
    addresses: config.HARRIER_CONTROLLER_GRPC,
    keys,
    log,
    observe: metrics.observeRpc,
    ...tls,
  });
  const refusals = new Refusals(controller);
  const tenants: Tenants = new Tenants({
    controller,
    amqpUrl: config.HARRIER_AMQP_URL,
    log,
    refused: (tenantId, refusal) => refusals.add(tenantId, refusal),
    count: counted.received,
    fault: faultPoint,
  });
  const send = createSender({
    controller,
    hostOf: (vhost) => tenants.hostOf(vhost),
    connected: () => tenants.connected(),
    cutOff: () => tenants.cutOff(),
    baseUrl: config.HARRIER_PUBLIC_URL.replace(/\/+$/, ""),
    count: counted.sent,
    caughtUp: counted.caughtUp,
    log,
    fault: faultPoint,
  });
  const node = describeNode(fileURLToPath(new URL("..", import.meta.url)));
  const nodeStatus = tellProcess(controller, node, () => jobs.states());
  const jobs: Jobs<JobName> = createJobs(jobList, { tenants, send, refusals, nodeStatus }, { log, registry: metrics.registry });
  // ready once controller has answered; a broker that is away makes no replica worse than another
  const readiness = { controller: async () => tenants.known || "controller has not answered which tenants there are" };
  const metricsPort = config.HARRIER_METRICS_PORT;
  const http = createHttp({ drain: drainOf(config), service: "dmf", keys, log, metrics, readiness, metricsPort, ...tls });
  await http.listen(config.HARRIER_HTTP_HOST, config.HARRIER_HTTP_PORT);
  const first = tenants.refresh().catch(() => undefined); // the job goes on asking, and says that it cannot
  void first.then(() => jobs.group().start());
  return [controller, tenants, backgroundWork(jobs.group()), http];
}
