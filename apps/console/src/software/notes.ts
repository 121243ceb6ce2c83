import { ask, askSeen, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";

/** A metadata entry; those of modules may be sent to devices too. */
export interface Entry {
  readonly key: string;
  readonly value?: string | undefined;
  readonly targetVisible?: boolean | undefined;
}

const query = { limit: 500, sort: "key:ASC" } as const;

/** The metadata of a distribution set, and what may be done with them. */
export function useSetNotes(distributionSetId: number) {
  const params = { distributionSetId };
  return {
    list: ask(r.distributionSets.listMetadata, { params, query }),
    seen: (metadataKey: string) => askSeen(r.distributionSets.getMetadata, { params: { ...params, metadataKey } }),
    lacksCreate: useLacking(r.distributionSets.createMetadata),
    lacksUpdate: useLacking(r.distributionSets.updateMetadata),
    lacksDelete: useLacking(r.distributionSets.deleteMetadata),
    create: async ({ key, value }: Entry) => {
      await change(r.distributionSets.createMetadata, { params, body: [{ key, value }] });
      await invalidate("distributionSets");
    },
    update: async (metadataKey: string, { value }: Partial<Entry>, ifMatch: string | undefined) => {
      await change(r.distributionSets.updateMetadata, { params: { ...params, metadataKey }, body: { value }, ifMatch });
      await invalidate("distributionSets");
    },
    remove: async (metadataKey: string) => {
      await change(r.distributionSets.deleteMetadata, { params: { ...params, metadataKey } });
      await invalidate("distributionSets");
    },
  };
}

/** The metadata of a module, and what may be done with them. */
export function useModuleNotes(softwareModuleId: number) {
  const params = { softwareModuleId };
  return {
    list: ask(r.softwareModules.listMetadata, { params, query }),
    seen: (metadataKey: string) => askSeen(r.softwareModules.getMetadata, { params: { ...params, metadataKey } }),
    lacksCreate: useLacking(r.softwareModules.createMetadata),
    lacksUpdate: useLacking(r.softwareModules.updateMetadata),
    lacksDelete: useLacking(r.softwareModules.deleteMetadata),
    create: async ({ key, value, targetVisible }: Entry) => {
      await change(r.softwareModules.createMetadata, { params, body: [{ key, value, targetVisible }] });
      await invalidate("softwareModules");
    },
    update: async (metadataKey: string, body: Partial<Entry>, ifMatch: string | undefined) => {
      await change(r.softwareModules.updateMetadata, { params: { ...params, metadataKey }, body, ifMatch });
      await invalidate("softwareModules");
    },
    remove: async (metadataKey: string) => {
      await change(r.softwareModules.deleteMetadata, { params: { ...params, metadataKey } });
      await invalidate("softwareModules");
    },
  };
}
