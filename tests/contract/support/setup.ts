import { afterAll, beforeAll, expect, inject } from "vitest";
import { takeTurn } from "./turns.ts";

let release: () => Promise<void>;

beforeAll(async () => {
  const alone = expect.getState().testPath?.endsWith(".alone.test.ts") ?? false;
  release = await takeTurn(inject("service").turnsUrl, alone ? "alone" : "shared");
});

afterAll(() => release?.());
