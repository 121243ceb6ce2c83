import type { DistributionSetView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Boxes } from "lucide-react";
import { useState } from "react";
import { ask, change, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import device from "../device/device.module.css";
import { NewRollout } from "../rollout/new-rollout.tsx";
import { commands, comparison, dialogs, states, software as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Card, Page } from "../ui/page.tsx";
import { Empty, Failure, Note, Refusal, Skeleton } from "../ui/states.tsx";
import { Table } from "../ui/table.tsx";
import { AddModule } from "./add-module.tsx";
import { EditSet } from "./edit-software.tsx";
import { SetMetadata } from "./metadata.tsx";
import { SetTags } from "./set-tags.tsx";
import { SoftwareState } from "./state.tsx";
import { SetUse } from "./use.tsx";

const route = getRouteApi("/in/software/sets/$setId");

/** One distribution set: what it holds, and who uses it. */
export function SetPage() {
  const { setId } = route.useParams();
  const params = { distributionSetId: setId };
  const { data, error, refetch } = useQuery(ask(r.distributionSets.get, { params }));
  if (data === undefined) return error === null ? <Skeleton lines={8} /> : <Failure alone error={error} retry={() => void refetch()} />;
  return (
    <Page
      title={`${data.name} ${data.version}`}
      api={{ row: r.distributionSets.get, params, command: commands.of("set", "get", String(data.id)) }}
      trail={
        <Link to="/software" search={{}}>
          {t.title}
        </Link>
      }
      beside={<SoftwareState {...data} pill />}
      sub={data.description}
      actions={<Actions set={data} />}
    >
      {data.valid ? (
        data.complete ? (
          data.locked && <Note>{t.lockedText}</Note>
        ) : (
          <Note tone="warn">{t.incompleteText}</Note>
        )
      ) : (
        <Note tone="bad">{t.invalidText}</Note>
      )}
      <div className={device["columns"]}>
        <div className={device["stack"]}>
          <Contents set={data} />
          <SetMetadata setId={data.id} />
        </div>
        <div className={device["stack"]}>
          <SetUse set={data} />
          <SetTags setId={data.id} />
        </div>
      </div>
    </Page>
  );
}

function Actions({ set }: { set: DistributionSetView }) {
  const navigate = route.useNavigate();
  const params = { distributionSetId: set.id };
  const lacksInvalidate = useLacking(r.distributionSets.invalidate, r.distributionSets.invalidationPreview);
  const lacksDelete = useLacking(r.distributionSets.delete);
  const name = `${set.name} ${set.version}`;
  const effect = useQuery({
    ...ask(r.distributionSets.invalidationPreview, { params }),
    enabled: lacksInvalidate === undefined && set.valid,
  });
  const invalidateSet = async () => {
    await change(r.distributionSets.invalidate, { params, body: { actionCancelationType: "soft", cancelRollouts: true } });
    await invalidate("distributionSets", "rollouts", "actions");
  };
  const remove = async () => {
    await change(r.distributionSets.delete, { params });
    await navigate({ to: "/software", search: {} });
    await invalidate("distributionSets");
  };
  return (
    <>
      {set.complete && set.valid && (
        <NewRollout primary with={{ set: String(set.id) }}>
          {t.rollOut}
        </NewRollout>
      )}
      <Link to="/software/compare" search={{ a: String(set.id) }} className={buttonClass()}>
        {comparison.open}
      </Link>
      <EditSet setId={set.id} />
      {set.valid && (
        <Confirm
          look="danger"
          why={lacksInvalidate && states.missing(lacksInvalidate)}
          trigger={t.invalidate}
          title={t.invalidateTitle(name)}
          text={
            effect.data === undefined ? (
              <Unknown error={effect.error} />
            ) : (
              t.invalidateText(effect.data.rollouts.total ?? 0, effect.data.actions.total ?? 0)
            )
          }
          missing={effect.data === undefined ? (effect.error === null ? dialogs.reading : dialogs.notRead) : undefined}
          onOpen={(open) => open && void effect.refetch()}
          button={t.invalidate}
          typed={set.locked ? name : undefined}
          run={invalidateSet}
        />
      )}
      <Confirm
        look="danger"
        why={lacksDelete && states.missing(lacksDelete)}
        trigger={t.delete}
        title={t.deleteTitle(name)}
        text={t.deleteText}
        button={t.delete}
        run={remove}
      />
    </>
  );
}

/** What a change would do is being asked, or could not be. */
function Unknown({ error }: { error: Error | null }) {
  return error === null ? <Skeleton lines={2} /> : <Refusal error={error} />;
}

function Contents({ set }: { set: DistributionSetView }) {
  const [adding, setAdding] = useState(false);
  const lacking = useLacking(r.distributionSets.assignModules);
  const why = set.locked ? t.lockedText : lacking && states.missing(lacking);
  const remove = async (softwareModuleId: number) => {
    await change(r.distributionSets.removeModule, { params: { distributionSetId: set.id, softwareModuleId } });
    await invalidate("distributionSets");
  };
  const button = (
    <Button small why={why} onClick={() => setAdding(true)}>
      {t.add}
    </Button>
  );
  return (
    <Card title={t.contents} aside={button} plain>
      {set.modules.length === 0 ? (
        <Empty title={t.noModules} text={t.noModulesText} icon={Boxes} />
      ) : (
        <Table>
          {set.modules.map(({ id, name, version, typeName }) => (
            <tr key={id}>
              <td>
                <Link to="/software/modules/$moduleId" params={{ moduleId: String(id) }}>
                  {name} {version}
                </Link>
              </td>
              <td className="muted">{typeName}</td>
              <td style={{ textAlign: "right" }}>
                <Confirm
                  small
                  look="ghost"
                  why={why}
                  trigger={t.remove}
                  title={t.removeModule(name)}
                  text=""
                  button={t.remove}
                  run={() => remove(id)}
                />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {adding && <AddModule set={set} close={() => setAdding(false)} />}
    </Card>
  );
}
