import type { TargetFilterView } from "@harrier/contracts";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { ask, change, problemOf, r } from "../api/client.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate } from "../api/query-client.ts";
import { NewRollout } from "../rollout/new-rollout.tsx";
import { commands, common, states, savedFilters as t } from "../text/en.ts";
import { Button, buttonClass } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { ListBar } from "../ui/listing.tsx";
import { Card, Facts, Page } from "../ui/page.tsx";
import { Remove } from "../ui/remove.tsx";
import { Empty, Failure, Note, Refusal, Skeleton } from "../ui/states.tsx";
import { AssignmentStatus } from "./assignment-status.tsx";
import { keptOf, statusOf } from "./filters.state.ts";
import { FilterForm } from "./new-filter.tsx";
import { TurnOn } from "./turn-on.tsx";

const route = getRouteApi("/in/filters/$filterId");

/** One saved filter: what it matches now, and what it assigns by itself. */
export function FilterPage() {
  const { filterId } = route.useParams();
  const { data, error, refetch } = useQuery({
    ...ask(r.targetFilters.get, { params: { filterId: Number(filterId) } }),
    refetchInterval: 10_000,
  });
  if (data === undefined) return error === null ? <Skeleton lines={6} /> : <Failure alone error={error} retry={() => void refetch()} />;
  return <Known filter={data} />;
}

function Known({ filter }: { filter: TargetFilterView }) {
  const { id, name, query } = filter;
  const navigate = route.useNavigate();
  const [editing, setEditing] = useState(false);
  const lacking = useLacking(r.targetFilters.update);
  const matching = useQuery(ask(r.targets.list, { query: { q: query, limit: 1 } }));
  const remove = async () => {
    await change(r.targetFilters.delete, { params: { filterId: id } });
    await navigate({ to: "/auto-assign", search: {} });
    await invalidate("targetFilters", "autoAssignments");
  };
  return (
    <Page
      title={name}
      api={{ row: r.targetFilters.get, params: { filterId: id }, command: commands.of("filter", "get", String(id)) }}
      trail={
        <Link to="/auto-assign" search={{}}>
          {t.title}
        </Link>
      }
      beside={<AssignmentStatus status={statusOf(filter)} />}
      actions={
        <>
          <Button why={lacking && states.missing(lacking)} onClick={() => setEditing(true)}>
            {common.edit}
          </Button>
          <Remove small={false} name={name} text={t.deleteText} row={r.targetFilters.delete} run={remove} />
        </>
      }
    >
      <Card title={t.query}>
        <p>
          <code>{query}</code>
        </p>
        <ListBar>
          <span className="muted num">
            {matching.data?.total !== undefined
              ? t.matches(matching.data.total)
              : matching.error && t.notCounted(problemOf(matching.error).text)}
          </span>
          <Link to="/devices" search={{ q: query }} className={buttonClass()}>
            {t.show}
          </Link>
          <NewRollout with={{ q: query }}>{t.rollout}</NewRollout>
        </ListBar>
      </Card>
      <Assignment filter={filter} />
      {editing && <FilterForm of={filter} close={() => setEditing(false)} />}
    </Page>
  );
}

function Assignment({ filter }: { filter: TargetFilterView }) {
  const [open, setOpen] = useState(false);
  const lacking = useLacking(r.targetFilters.setAutoAssign);
  const why = lacking && states.missing(lacking);
  const off = filter.autoAssignDistributionSet === null;
  const turnOff = async () => {
    await change(r.targetFilters.removeAutoAssign, { params: { filterId: filter.id } });
    await invalidate("targetFilters", "autoAssignments");
  };
  const opens = (
    <Button small={!off} look={off ? "primary" : undefined} why={why} onClick={() => setOpen(true)}>
      {off ? t.turnOn : t.changeSet}
    </Button>
  );
  const aside = off ? undefined : (
    <>
      {opens}
      <Confirm
        small
        look="danger"
        why={why}
        trigger={t.turnOff}
        title={t.turnOffTitle}
        text={t.turnOffText}
        button={t.turnOff}
        run={turnOff}
      />
    </>
  );
  return (
    <Card title={t.assignment} aside={aside}>
      {off ? (
        <Empty title={t.offTitle} text={t.offText}>
          {opens}
        </Empty>
      ) : (
        <Given filter={filter} />
      )}
      {open && <TurnOn of={filter} close={() => setOpen(false)} />}
    </Card>
  );
}

function Given({ filter }: { filter: TargetFilterView }) {
  const readable = useLacking(r.targetFilters.getAutoAssign) === undefined;
  const { data: set, error } = useQuery({ ...ask(r.targetFilters.getAutoAssign, { params: { filterId: filter.id } }), enabled: readable });
  return (
    <>
      {filter.lastError && <Note tone="bad">{t.fails(filter.lastError.message)}</Note>}
      <Refusal error={error} />
      <Facts
        of={[
          [
            t.set,
            set && (
              <Link to="/software/sets/$setId" params={{ setId: String(set.id) }}>
                {t.setOf(set.name, set.version)}
              </Link>
            ),
          ],
          [t.give, t.forces[filter.autoAssignActionType ?? "forced"]],
          [t.weight, filter.autoAssignWeight],
          [t.confirmation, filter.confirmationRequired ? t.yes : t.no],
          ...keptOf(filter),
          [t.decidedBy, filter.approveDecidedBy],
          [t.remark, filter.approvalRemark],
        ]}
      />
    </>
  );
}
