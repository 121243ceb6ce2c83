import type { MessagingAccess } from "@harrier/contracts";
import type { Stack } from "@harrier/stack";
import { type Admin, createAdmin, type RabbitMq, startRabbitMq, startTestStack } from "@harrier/testkit";
import { deadLettersOf } from "../support/dead-letters.ts";
import { type Backend, connectBackend } from "../support/thing.ts";

// The one stack of the suite, with two replicas of dmf on a real RabbitMQ: its set-up takes longer than most of its tests.

export let broker: RabbitMq;
export let stack: Stack;
export let admin: Admin;
/** The backend of things that most tests speak through. */
export let backend: Backend;
export let vhost: string;
/** Where things of the default tenant connect. */
export let url: string;

export async function startDmf(): Promise<void> {
  broker = await startRabbitMq();
  stack = await startTestStack({ amqp: { url: broker.url, managementUrl: broker.managementUrl }, replicas: { dmf: 2 } });
  admin = createAdmin({ baseUrl: stack.baseUrl, user: stack.adminUser, password: stack.adminPassword });
  await admin.configure("authentication.targettoken.enabled", true);
  ({ vhost, url } = await enable(admin));
  backend = await connectBackend(url);
}

export async function stopDmf(): Promise<void> {
  // its connection may have ended with the broker
  await backend?.close().catch(() => undefined);
  await stack?.stop();
  await broker?.stop();
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
