/** The names of a tenant's virtual host that clients of hawkBit's DMF know (contract rollouts.md §8.1), and those of the event stream. */
export const dmfNames = {
  /** Fanout: things publish here. */
  exchange: "dmf.exchange",
  /** What things have published, until it has been recorded. */
  receiver: "dmf_receiver",
  /** Fanout: what was refused. */
  deadLetterExchange: "dmf.connector.deadletter",
  deadLetters: "dmf_connector_deadletter_ttl",
  /** Topic: the events of the tenant, by type. */
  sieExchange: "sie.exchange",
} as const;

/** Refused messages are kept for 21 days, and so many of them at most. */
const deadLetterMs = 1_814_400_000;
const maxDeadLetters = 100_000;
/** So many messages of things wait; what is beyond is refused to publishers that ask for confirms. */
const maxWaitingMessages = 1_000_000;
/** So many messages wait in a queue of a tenant's own. */
const maxOwnMessages = 100_000;
const mebibyte = 1024 * 1024;

/** The arguments of the queues; both services that declare them must give the same. */
export const dmfQueues = {
  // One consumer at a time keeps the messages of a thing in order; the broker gives the queue to another one when it ends.
  [dmfNames.receiver]: { "x-dead-letter-exchange": dmfNames.deadLetterExchange, "x-single-active-consumer": true },
  [dmfNames.deadLetters]: { "x-message-ttl": deadLetterMs },
} as const;

/**
 * How long queues may become, as the broker's policies: for a queue the one with the highest priority counts. A full queue of a thing's client refuses
 * what is published, so that it is told later; of dead letters, and of events for a reader that is away, the oldest go.
 */
export const messagingPolicies = {
  "harrier-dead-letters": {
    pattern: `^${dmfNames.deadLetters}$`,
    definition: { "max-length": maxDeadLetters, "max-length-bytes": 256 * mebibyte, overflow: "drop-head" },
    priority: 2,
  },
  "harrier-receiver": {
    pattern: `^${dmfNames.receiver}$`,
    definition: { "max-length": maxWaitingMessages, "max-length-bytes": 1024 * mebibyte, overflow: "reject-publish" },
    priority: 2,
  },
  "harrier-events": {
    pattern: "^sie_",
    definition: { "max-length": maxOwnMessages, "max-length-bytes": 128 * mebibyte, overflow: "drop-head" },
    priority: 1,
  },
  "harrier-replies": {
    pattern: ".*",
    definition: { "max-length": maxOwnMessages, "max-length-bytes": 128 * mebibyte, overflow: "reject-publish" },
    priority: 0,
  },
} as const;

/** What a vhost needs for DMF: exchanges and what each queue is bound to. */
export const dmfExchanges = { [dmfNames.exchange]: "fanout", [dmfNames.deadLetterExchange]: "fanout" } as const;
export const dmfBindings = [
  { exchange: dmfNames.exchange, queue: dmfNames.receiver },
  { exchange: dmfNames.deadLetterExchange, queue: dmfNames.deadLetters },
] as const;

const reserved: ReadonlySet<string> = new Set([...Object.keys(dmfExchanges), dmfNames.sieExchange]);
const maxNameBytes = 255;

/**
 * Whether messages for things may be published to an exchange of this name: the protocol takes up to 255 bytes, the broker strips or refuses control
 * characters, and its own exchanges and those that things speak to are nobody's reply exchange.
 */
export function isReplyExchange(name: string): boolean {
  return (
    name !== "" &&
    new TextEncoder().encode(name).length <= maxNameBytes &&
    !/\p{Cc}/u.test(name) &&
    !/^amq\.(?!gen-)/.test(name) &&
    !reserved.has(name)
  );
}

const exactly = (names: readonly string[]): string => names.map((name) => name.replaceAll(".", "\\.")).join("|");
const others = (names: readonly string[]): string => `^(?!(${exactly(names)})$|amq\\.(?!gen-)).+$`;
const ours = Object.values(dmfNames);

/**
 * What the users of a tenant may do, as the broker's regular expressions: things publish to `dmf.exchange` and use exchanges and queues of their
 * own. They cannot read `dmf_receiver`, nor get around the server by its dead letters or by the broker's own exchanges. Readers of events have queues
 * of their own, `sie_…`.
 */
export const messagingPermissions = {
  dmf: {
    configure: others(ours),
    write: others(ours.filter((name) => name !== dmfNames.exchange)),
    read: others(ours),
  },
  sie: {
    configure: "^(sie_.*|amq\\.gen-.*)$",
    write: "^(sie_.*|amq\\.gen-.*)$",
    read: `^(${exactly([dmfNames.sieExchange])}|sie_.*|amq\\.gen-.*)$`,
  },
} as const;
export type MessagingUse = keyof typeof messagingPermissions;
