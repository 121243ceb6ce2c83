export { type DemoOptions, type DemoResult, runDemo } from "./demo/demo.ts";
export { type Fleet, type FleetDevices, type FleetOptions, runFleet } from "./fleet.ts";
export type { FinalReport, FleetEvent, FleetReport } from "./report.ts";
export { runThings, type Things, type ThingsOptions, type ThingsReport } from "./things.ts";
