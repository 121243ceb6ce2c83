import {
  dmfBindings,
  dmfExchanges,
  dmfNames,
  dmfQueues,
  type MessagingUse,
  messagingPermissions,
  messagingPolicies,
} from "@harrier/contracts";
import { HarrierError } from "@harrier/errors";

/** A broker that does not answer must not hold a request for longer. */
const timeoutMs = 10_000;
/** A tenant may have so many connections and queues: each costs the broker memory that all tenants share. */
const vhostLimits = { "max-connections": 1_000, "max-queues": 10_000 } as const;

/** The name of a tenant's user on the broker: users are those of the whole broker, so the virtual host is in it. */
export const userName = (vhost: string, use: MessagingUse): string => `${vhost}.${use}`;

export interface BrokerSettings {
  /** Where clients connect, `amqp://host:port` or `amqps://host:port`, without a user. */
  readonly publicUrl: URL;
  /** The user that the services connect as. */
  readonly serviceUser: string;
  /** RabbitMQ's management interface, with user and password. */
  readonly managementUrl: URL;
}

/** How many messages a virtual host has. */
export interface MessageCounts {
  readonly waitingMessages: number;
  readonly deadLetters: number;
}

export interface BrokerUser {
  readonly vhost: string;
  readonly name: string;
  readonly password: string;
  readonly use: MessagingUse;
}

/**
 * Asks RabbitMQ's management interface for what tenants need there. All changes may be repeated; a broker that does not answer, or not as expected, is
 * `amqpNotAvailable`.
 */
export interface Broker {
  readonly settings: BrokerSettings;
  /** Makes the virtual host with everything that a use needs. */
  prepare(vhost: string, use: MessagingUse): Promise<void>;
  /** Makes the user, or gives it this password; whoever is connected with a former one is not any more. */
  putUser(user: BrokerUser): Promise<void>;
  /** Whoever is connected with the former password is not any more. */
  setPassword(name: string, password: string): Promise<void>;
  /** Whether what a use needs is there: an operator may have deleted the virtual host. */
  has(vhost: string, use: MessagingUse): Promise<boolean>;
  count(vhost: string): Promise<MessageCounts>;
  /** Removes the virtual host with its messages, and these users. */
  remove(vhost: string, users: readonly string[]): Promise<void>;
}

export function createBroker(settings: BrokerSettings): Broker {
  const ask = asker(settings.managementUrl);
  const put = (path: readonly string[], body: object = {}) => ask("PUT", path, body);
  const setPassword = async (name: string, password: string): Promise<void> => {
    await put(["users", name], { password, tags: "" });
    // the broker asks for passwords when a connection is made, and never again
    await ask("DELETE", ["connections", "username", name]);
  };
  return {
    settings,
    async prepare(vhost, use) {
      await put(["vhosts", vhost]);
      await put(["permissions", vhost, settings.serviceUser], { configure: ".*", write: ".*", read: ".*" });
      // one after the other: the broker keeps both limits in one record, and of two at the same time it could lose one
      for (const [name, value] of Object.entries(vhostLimits)) await put(["vhost-limits", vhost, name], { value });
      await Promise.all(
        Object.entries(messagingPolicies).map(([name, policy]) => put(["policies", vhost, name], { ...policy, "apply-to": "queues" })),
      );
      await (use === "dmf"
        ? declareDmf(put, ask, vhost)
        : put(["exchanges", vhost, dmfNames.sieExchange], { type: "topic", durable: true }));
    },
    async putUser({ vhost, name, password, use }) {
      await setPassword(name, password);
      await put(["permissions", vhost, name], messagingPermissions[use]);
    },
    setPassword,
    async has(vhost, use) {
      const exchange = use === "dmf" ? dmfNames.exchange : dmfNames.sieExchange;
      // the services declare exchanges again by themselves, but nobody gives the user its permissions back
      const answers = await Promise.all([
        ask("GET", ["exchanges", vhost, exchange]),
        ask("GET", ["permissions", vhost, userName(vhost, use)]),
      ]);
      return answers.every(({ status }) => status !== 404);
    },
    async count(vhost) {
      // by name: a tenant may have thousands of queues of its own
      const of = async (name: string): Promise<number> => {
        const answer = await ask("GET", ["queues", vhost, name]);
        return answer.status === 404 ? 0 : (((await answer.json()) as { messages?: number }).messages ?? 0);
      };
      const [waitingMessages, deadLetters] = await Promise.all([of(dmfNames.receiver), of(dmfNames.deadLetters)]);
      return { waitingMessages, deadLetters };
    },
    async remove(vhost, users) {
      await ask("DELETE", ["vhosts", vhost]);
      await Promise.all(users.map((name) => ask("DELETE", ["users", name])));
    },
  };
}

type Ask = (method: string, path: readonly string[], body?: object) => Promise<Response>;
type Put = (path: readonly string[], body?: object) => Promise<Response>;

/** Declares what devices publish to before any of them can, so that no message is lost while no `dmf` service runs. */
async function declareDmf(put: Put, ask: Ask, vhost: string): Promise<void> {
  const exchanges = Object.entries(dmfExchanges).map(([name, type]) => put(["exchanges", vhost, name], { type, durable: true }));
  const queues = Object.entries(dmfQueues).map(([name, args]) => put(["queues", vhost, name], { durable: true, arguments: args }));
  await Promise.all([...exchanges, ...queues]);
  await Promise.all(dmfBindings.map(({ exchange, queue }) => ask("POST", ["bindings", vhost, "e", exchange, "q", queue], {})));
}

/** Answers the function that asks the interface; what is to be read or deleted and is not there is no error. */
function asker(managementUrl: URL): Ask {
  const { username, password } = managementUrl;
  const authorization = `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString("base64")}`;
  const base = new URL(managementUrl);
  base.username = "";
  base.password = "";
  const root = base.href.replace(/\/+$/, "");
  return async (method, path, body) => {
    const answer = await fetch(`${root}/api/${path.map(encodeURIComponent).join("/")}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch((cause: unknown) => {
      throw new HarrierError("amqpNotAvailable", undefined, { cause });
    });
    if (answer.ok || (["DELETE", "GET"].includes(method) && answer.status === 404)) return answer;
    const reason = await answer.text().catch(() => "");
    throw new HarrierError("amqpNotAvailable", undefined, {
      cause: new Error(`${method} ${path.slice(0, 2).join("/")}: ${answer.status} ${reason.slice(0, 300)}`),
    });
  };
}
