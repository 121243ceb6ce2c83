import { entityNotFound, HarrierError } from "@harrier/errors";
import type { mountAll } from "../mount-all.ts";
import type { Fixture } from "./management.fixture.ts";

type Parts = Parameters<typeof mountAll>[1];

/** Is called with each request to controller before it is carried out; what it throws is the answer. */
type Recorder = (method: string, request: object, call: { commandId?: string }) => void;

/**
 * Stands in for controller's commands, as far as these tests need their effects: it writes controller's tables over its own connections.
 */
export function controllerFake(fixture: Fixture, record: Recorder): Pick<Parts, "targets" | "actions"> {
  const one = async (sql: string, values: unknown[]) => (await fixture.asController(sql, values))[0];
  const tokenOf = (controllerId: string) => `token-of-${controllerId}`;
  return {
    targets: {
      async createTargets(request, call) {
        record("createTargets", request, call);
        const targets = [];
        for (const target of request.targets ?? []) {
          const known = await one("select 1 from targets where controller_id = $1", [target.controllerId]);
          if (known) throw new HarrierError("entityAlreadyExists");
          const typeId = target.targetTypeId === undefined ? {} : { typeId: Number(target.targetTypeId) };
          const id = await fixture.addTarget(target.controllerId ?? "", typeId);
          await one("update targets set name = $2, description = $3, address = $4 where id = $1", [
            id,
            target.name,
            target.description,
            target.address,
          ]);
          targets.push({
            controllerId: target.controllerId ?? "",
            id,
            securityToken: target.securityToken ?? tokenOf(target.controllerId ?? ""),
          });
        }
        return { targets };
      },
      async updateTarget(request, call) {
        record("updateTarget", request, call);
        const changed = await one("update targets set name = coalesce($2, name) where controller_id = $1 returning id", [
          request.controllerId,
          request.name,
        ]);
        if (changed === undefined) throw entityNotFound("Target", request.controllerId);
        return {};
      },
      async deleteTargets(request, call) {
        record("deleteTargets", request, call);
        const gone = await fixture.asController("delete from targets where controller_id = any($1) returning id", [request.controllerIds]);
        return { deleted: gone.length };
      },
      async deleteTargetsById(request, call) {
        record("deleteTargetsById", request, call);
        const gone = await fixture.asController("delete from targets where id = any($1::int[]) returning id", [request.targetIds]);
        return { deleted: gone.length };
      },
      async readSecurityTokens(request, call) {
        record("readSecurityTokens", request, call);
        return { tokens: Object.fromEntries((request.controllerIds ?? []).map((id) => [id, tokenOf(id)])) };
      },
      async activateAutoConfirm(request, call) {
        record("activateAutoConfirm", request, call);
        const made = await one(
          `insert into auto_confirmations (tenant_id, target_id, initiator, remark, created_by)
           select 1, id, $2, $3, 'admin' from targets where controller_id = $1 on conflict do nothing returning target_id`,
          [request.controllerId, request.initiator, request.remark],
        );
        if (made === undefined) throw new HarrierError("autoConfAlreadyActive");
        return {};
      },
      async deactivateAutoConfirm(request, call) {
        record("deactivateAutoConfirm", request, call);
        await one("delete from auto_confirmations c using targets t where t.id = c.target_id and t.controller_id = $1", [
          request.controllerId,
        ]);
        return {};
      },
      async changeTag(request, call) {
        record("changeTag", request, call);
        return { missing: [] };
      },
      async changeGroup(request, call) {
        record("changeGroup", request, call);
        const changed = await fixture.asController(
          `update targets set target_group = $3 where controller_id = any($1::text[]) or id = any($2::int[]) returning id`,
          [request.controllerIds ?? [], request.targetIds ?? [], request.group ?? null],
        );
        return { changed: changed.length };
      },
      async importTargets(request, call) {
        record("importTargets", request, call);
        return { created: 0, failed: 0, problems: [] };
      },
      async addMetadata(request, call) {
        record("addMetadata", request, call);
        for (const { key, value } of request.entries ?? []) {
          await one(
            "insert into target_metadata (tenant_id, target_id, key, value) select 1, id, $2, $3 from targets where controller_id = $1",
            [request.controllerId, key, value ?? null],
          );
        }
        return {};
      },
      async changeMetadata(request, call) {
        record("changeMetadata", request, call);
        return { value: request.value ?? "as it was" };
      },
      async removeMetadata(request, call) {
        record("removeMetadata", request, call);
        return {};
      },
    },
    actions: {
      async assignSet(request, call) {
        record("assignSet", request, call);
        const actions = [];
        let alreadyAssigned = 0;
        for (const item of request.items ?? []) {
          const controllerId = item.controllerId ?? "";
          const target = await one(
            "select t.id, s.assigned_set_id as set from targets t join target_state s on s.target_id = t.id where t.controller_id = $1",
            [controllerId],
          );
          if (target === undefined) continue;
          const setId = Number(request.set?.id);
          if (Number(target["set"]) === setId) alreadyAssigned += 1;
          else actions.push({ controllerId, id: await fixture.addAction({ targetId: Number(target["id"]), controllerId, setId }) });
          await one("update target_state set assigned_set_id = $2, update_status = 2 where target_id = $1", [target["id"], setId]);
        }
        return { alreadyAssigned, actions };
      },
      async assignSets(request, call) {
        record("assignSets", request, call);
        return { alreadyAssigned: 0, actions: (request.items ?? []).map(({ controllerId = "" }, n) => ({ controllerId, id: 800 + n })) };
      },
      async assignOffline(request, call) {
        record("assignOffline", request, call);
        return { alreadyAssigned: 0, actions: (request.controllerIds ?? []).map((controllerId, n) => ({ controllerId, id: 900 + n })) };
      },
      async cancelAction(request, call) {
        record("cancelAction", request, call);
        const known = await one("select status from actions where id = $1", [request.actionId]);
        if (known?.["status"] === 4) throw new HarrierError("actionNotCancelable");
        await one("update actions set status = $2, active = $3 where id = $1", [request.actionId, request.force ? 4 : 5, !request.force]);
        return {};
      },
      async forceAction(request, call) {
        record("forceAction", request, call);
        await one("update actions set force_type = 1 where id = $1", [request.actionId]);
        return {};
      },
      async deleteActions(request, call) {
        record("deleteActions", request, call);
        return { removed: request.actionIds?.length ?? 0 };
      },
      async proveAction(request, call) {
        record("proveAction", request, call);
        return {};
      },
      async retryAction(request, call) {
        record("retryAction", request, call);
        return { actionId: Number(request.actionId) };
      },
      async confirmAction(request, call) {
        record("confirmAction", request, call);
        await one("update actions set status = $2 where id = $1", [request.actionId, request.confirmed ? 3 : 11]);
        return {};
      },
    },
  };
}
