import { routes } from "@harrier/contracts";
import type { Mount } from "@harrier/service";
import { expect, test } from "vitest";
import { mountAll, type Parts } from "./mount-all.ts";

test("every route of this service is mounted, and no other", () => {
  const mounted: string[] = [];
  const mount: Mount = (route) => void mounted.push(route.id);
  mountAll(mount, { db: {} } as Parts);
  const mine = routes.filter((route) => route.service === "management").map((route) => route.id);
  expect(mounted.toSorted()).toEqual(mine.toSorted());
});
