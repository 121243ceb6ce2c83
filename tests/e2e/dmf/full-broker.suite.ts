import { eventually } from "@harrier/testkit";
import { expect, test } from "vitest";
import { counterOf } from "../support/metrics.ts";
import { connectBackend } from "../support/thing.ts";
import { admin, broker, hostsOf, replicasOfDmf, url } from "./stack.ts";
import { assignAll, limitMs, newSet, registered } from "./things.ts";

const signalAll = (signal: NodeJS.Signals): void => {
  for (const replica of replicasOfDmf()) process.kill(replica.pid() ?? 0, signal);
};

/** How many virtual hosts take nothing, of all replicas. */
const blocked = async (): Promise<number> =>
  (await Promise.all(replicasOfDmf().map((replica) => hostsOf(replica, "blocked")))).reduce((sum, n) => sum + n, 0);

/** How many messages were handled, each as often as it came. */
const handled = (): Promise<number> => counterOf(replicasOfDmf(), "harrier_dmf_received_total", { outcome: "handled" });

/** What is left when the broker has no room: it reads nothing from a connection that publishes, and waits. */
export function fullBroker(): void {
  test("a broker whose disk is full stops what is told to things, not what they have said, and all is told once there is room", async () => {
    const backend = await connectBackend(url, { exchange: "room.replies" });
    try {
      const id = await registered({ by: backend });
      const others = await Promise.all(Array.from({ length: 5 }, () => registered({ by: backend })));
      const before = await handled();
      // dmf stands still while things speak, and has more to handle than the broker gives it at a time
      signalAll("SIGSTOP");
      const last = 3_000;
      for (let n = 1; n <= last; n += 1) backend.send({ type: "EVENT", topic: "UPDATE_ATTRIBUTES", thingId: id }, { attributes: { n } });
      await backend.channel.checkExchange(backend.exchange); // the broker has read all of it
      await assignAll(others, await newSet());
      await broker.setFull(true);
      signalAll("SIGCONT");
      await eventually(async () => expect(await blocked()).toBe(1), limitMs);
      await eventually(async () => expect(await admin.get(`targets/${id}/attributes`)).toMatchObject({ n: String(last) }), limitMs);
      // none came again, as it would if their connection had to be given up with that of the messages to things
      await eventually(async () => expect((await handled()) - before).toBe(last), limitMs);
      await broker.setFull(false);
      for (const other of others)
        await backend.next(({ thingId, topic }) => thingId === other && topic === "DOWNLOAD_AND_INSTALL", limitMs);
      expect(await blocked()).toBe(0);
    } finally {
      signalAll("SIGCONT");
      await broker.setFull(false);
      await backend.close();
    }
  });
}
