import { createSets } from "../distribution-sets/distribution-sets.ts";
import { createModules } from "../software-modules/software-modules.ts";
import { type HttpFixture, httpFixture } from "../testing/http.fixture.ts";
import { type Fixture, managementFixture } from "../testing/management.fixture.ts";

export const api = "/api/mgmt/v1";

/** Serves the routes of targets over a database of their own, with a test double of controller. */
export interface TargetsFixture {
  fixture: Fixture;
  http: HttpFixture;
  /** Creates a set that can be assigned, and returns its id. */
  newSet(): Promise<number>;
  create(...controllerIds: string[]): ReturnType<HttpFixture["call"]>;
  /** These are the calls to controller, in order. */
  methods(): string[];
  close(): Promise<void>;
}

export async function targetsFixture(): Promise<TargetsFixture> {
  const fixture = await managementFixture();
  const http = await httpFixture(fixture);
  let n = 0;
  return {
    fixture,
    http,
    async newSet() {
      const [module] = await createModules(fixture, fixture.actor, [{ name: `m-${n++}`, version: "1", type: "os", encrypted: false }]);
      const modules = [{ id: module?.id ?? 0 }];
      const set = { name: `s-${n++}`, version: "1", type: "os", requiredMigrationStep: false, locked: false, modules };
      const [row] = await createSets({ ...fixture, fault: () => {} }, fixture.actor, [set]);
      return row?.id ?? 0;
    },
    create: (...controllerIds) => http.call("POST", `${api}/targets`, { body: controllerIds.map((controllerId) => ({ controllerId })) }),
    methods: () => http.requested.map((call) => call.method),
    async close() {
      await http.close();
      await fixture.close();
    },
  };
}
