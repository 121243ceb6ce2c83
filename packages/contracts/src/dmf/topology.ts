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
export const maxDeadLetters = 100_000;
/** So many messages of things wait; what is beyond is refused to publishers that ask for confirms. */
export const maxWaitingMessages = 1_000_000;

/** The arguments of the queues; both services that declare them must give the same. */
export const dmfQueues = {
  // One consumer at a time keeps the messages of a thing in order; the broker gives the queue to another one when it ends.
  [dmfNames.receiver]: { "x-dead-letter-exchange": dmfNames.deadLetterExchange, "x-single-active-consumer": true },
  [dmfNames.deadLetters]: { "x-message-ttl": deadLetterMs },
} as const;

/** What a vhost needs for DMF: exchanges and what each queue is bound to. */
export const dmfExchanges = { [dmfNames.exchange]: "fanout", [dmfNames.deadLetterExchange]: "fanout" } as const;
export const dmfBindings = [
  { exchange: dmfNames.exchange, queue: dmfNames.receiver },
  { exchange: dmfNames.deadLetterExchange, queue: dmfNames.deadLetters },
] as const;

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
