import { eventually } from "@harrier/testkit";
import { connect, type GetMessage } from "amqplib";
import { expect } from "vitest";

/** The dead letters of a virtual host, as the operator may read them. */
export function deadLettersOf(brokerUrl: () => string, vhost: () => string) {
  const take = async (): Promise<GetMessage[]> => {
    const connection = await connect(`${brokerUrl()}/${vhost()}`);
    const channel = await connection.createChannel();
    const found: GetMessage[] = [];
    for (;;) {
      const one = await channel.get("dmf_connector_deadletter_ttl", { noAck: true });
      if (one === false) break;
      found.push(one);
    }
    await connection.close();
    return found;
  };
  return {
    take,
    /** Expects that what is sent is refused, and nothing else; answers it as it is among the dead letters. */
    async expectOne(send: () => void): Promise<GetMessage> {
      await take();
      send();
      const one = await eventually(async () => {
        const [found, ...more] = await take();
        expect(more).toEqual([]);
        if (found === undefined) throw new Error("nothing is among the dead letters");
        return found;
      });
      const [death] = (one.properties.headers?.["x-death"] ?? []) as { reason: string; queue: string }[];
      expect(death).toMatchObject({ reason: "rejected", queue: "dmf_receiver" });
      return one;
    },
  };
}
