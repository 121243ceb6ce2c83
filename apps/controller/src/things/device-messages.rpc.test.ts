import { expect, test } from "vitest";
import { deviceMessagesHandlers } from "./device-messages.rpc.ts";

test("what dmf asks by itself is not available until the views of management exist, and reads nothing", async () => {
  const handlers = deviceMessagesHandlers({ readable: () => false } as never);
  const request = { holder: "h", confirmed: "", baseUrl: "", dropped: [], connected: [], full: [], resting: [] };
  await expect(handlers.listMessagingTenants({}, {} as never)).rejects.toMatchObject({ code: "unavailable" });
  await expect(handlers.readDeviceMessages(request, {} as never)).rejects.toMatchObject({ code: "unavailable" });
});
