import { afterAll, beforeAll, describe } from "vitest";
import { assignmentsOfThings } from "./dmf/assignments.suite.ts";
import { faultsOfMessaging } from "./dmf/faults.suite.ts";
import { fullBroker } from "./dmf/full-broker.suite.ts";
import { thingsByHawkbitsLibrary } from "./dmf/hawkbit-library.suite.ts";
import { hostileClients } from "./dmf/hostile.suite.ts";
import { limitsOfMessaging } from "./dmf/limits.suite.ts";
import { messagesOfThings } from "./dmf/messages.suite.ts";
import { startDmf, stopDmf } from "./dmf/stack.ts";

// One broker and one stack for all of them; each adds its tests, and the order is that of the set-ups that they need.

beforeAll(startDmf);
afterAll(stopDmf);

describe("messages of things", messagesOfThings);
describe("assignments of things", assignmentsOfThings);
describe("limits of messaging", limitsOfMessaging);
describe("hostile clients", hostileClients);
describe("things by hawkBit's library", thingsByHawkbitsLibrary);
describe("a full broker", fullBroker);
describe("faults of messaging", faultsOfMessaging);
