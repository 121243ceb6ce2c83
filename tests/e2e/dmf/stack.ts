import type { MessagingAccess } from "@harrier/contracts";
import type { RunningService, Stack } from "@harrier/stack";
import { type Admin, createAdmin, type RabbitMq, startRabbitMq, startTestStack } from "@harrier/testkit";
import { deadLettersOf } from "../support/dead-letters.ts";
import { urlOf } from "../support/replicas.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";
import { type Backend, connectBackend } from "../support/thing.ts";

// The one stack of the suite, with two replicas of dmf on a real RabbitMQ: its set-up takes longer than most of its tests.

export let broker: RabbitMq;
/** Between dmf and the broker. */
export let proxy: TcpProxy;
export let stack: Stack;
export let admin: Admin;
/** The backend of things that most tests speak through. */
export let backend: Backend;
export let vhost: string;
/** Where things of the default tenant connect. */
export let url: string;

export async function startDmf(): Promise<void> {
  broker = await startRabbitMq();
  proxy = await startTcpProxy(broker.port);
  const proxied = new URL(broker.url);
  proxied.port = String(proxy.port);
  stack = await startTestStack({
    amqp: { url: broker.url, managementUrl: broker.managementUrl },
    replicas: { dmf: 2 },
    envOf: { dmf: { HARRIER_AMQP_URL: proxied.href } },
  });
  admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
  await admin.configure("authentication.targettoken.enabled", true);
  ({ vhost, url } = await enable(admin));
  backend = await connectBackend(url);
}

export async function stopDmf(): Promise<void> {
  // its connection may have ended with the broker
  await backend?.close().catch(() => undefined);
  await stack?.stop();
  await proxy?.stop();
  await broker?.stop();
}

export const replicasOfDmf = (): RunningService[] => stack.services.filter(({ service }) => service === "dmf");

/** How many virtual hosts of a replica are in a state. */
export async function hostsOf(replica: RunningService, state: "connected" | "blocked" | "away"): Promise<number> {
  const text = await (await fetch(`${urlOf(replica)}/metrics`)).text();
  return Number(new RegExp(`^harrier_dmf_virtual_hosts\\{.*state="${state}".*\\} (\\d+)`, "m").exec(text)?.[1]);
}

/** Enables DMF for the tenant of this user; answers where its things connect. */
export async function enable(of: Admin): Promise<{ vhost: string; url: string }> {
  const made = await of.post<MessagingAccess>("system/amqp/dmf");
  return { vhost: made.vhost, url: Object.values(made.users)[0]?.amqpUri ?? "" };
}

export const dead = deadLettersOf(
  () => broker.url,
  () => vhost,
);

/** Makes a tenant, and answers its administrator. */
export async function newTenant(name: string): Promise<Admin> {
  const body = [{ name, administrator: { name: "boss" } }];
  const [made] = await admin.post<{ administrator: { password: string } }[]>("system/tenants", body);
  return createAdmin({ baseUrl: stack.baseUrl, user: `${name}\\boss`, password: made?.administrator.password ?? "" });
}
