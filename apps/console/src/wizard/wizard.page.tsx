import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useEffect, useState } from "react";
import { change, r } from "../api/client.ts";
import { draftKey } from "../api/drafts.ts";
import { useLacking } from "../api/permissions.ts";
import { invalidate, queryClient } from "../api/query-client.ts";
import { me } from "../api/session.ts";
import { problemOfQuery } from "../fiql/problem.ts";
import { dialogs, rollouts, states, wizard as t } from "../text/en.ts";
import { Button } from "../ui/button.tsx";
import { useRun } from "../ui/confirm.tsx";
import { Card, Page } from "../ui/page.tsx";
import { Empty, Refusal } from "../ui/states.tsx";
import { toast } from "../ui/toast.tsx";
import { HowStep, WhatStep, WhenStep, WhoStep } from "./fields.tsx";
import { Plan, PlanText } from "./plan.tsx";
import style from "./wizard.module.css";
import { bodyOf, type Draft, emptyDraft, firstOpen, problemsOf, type StepName, stepNames } from "./wizard.state.ts";

const route = getRouteApi("/in/rollouts/new");
/** Where what is written stays. */
const keyOf = () => {
  const who = queryClient.getQueryData<Who>(me.queryKey);
  return who === undefined ? undefined : draftKey("rollout", who);
};
type Who = Awaited<ReturnType<typeof me.queryFn>>;
const isQuery = (q: string) => problemOfQuery(q) === undefined;

function storedDraft(q: string | undefined, set: string | undefined): Draft {
  let stored: Partial<Draft> = {};
  try {
    stored = JSON.parse(sessionStorage.getItem(keyOf() ?? "") ?? "{}") as Partial<Draft>;
  } catch {
    // what cannot be read is begun anew
  }
  return { ...emptyDraft, ...stored, ...(q === undefined ? {} : { q }), ...(set === undefined ? {} : { set }) };
}

/** Creates a rollout in five steps; what is written stays in the tab until it is created. */
export function WizardPage() {
  const lacking = useLacking(r.rollouts.create);
  return lacking === undefined ? <Steps /> : <Empty alone title={states.forbidden} text={states.missing(lacking)} />;
}

function Steps() {
  const { step = "what", q, set } = route.useSearch();
  const navigate = route.useNavigate();
  const [draft, setDraft] = useState(() => storedDraft(q, set));
  const [tried, setTried] = useState<StepName>();
  const shown = stepNames.find((name) => name === step) ?? "what";
  const at = stepNames.indexOf(shown);
  const [seen, setSeen] = useState(at);
  useEffect(() => setSeen((before) => Math.max(before, at)), [at]);
  const problems = problemsOf(shown, draft, Date.now(), isQuery);
  const edit = (part: Partial<Draft>) => {
    const next = { ...draft, ...part };
    setDraft(next);
    const key = keyOf();
    if (key !== undefined) sessionStorage.setItem(key, JSON.stringify(next));
  };
  const go = (name: StepName) => {
    setTried(undefined);
    void navigate({ search: { step: name } });
  };
  const next = (event: FormEvent) => {
    event.preventDefault();
    if (problems.length > 0) return setTried(shown);
    go(stepNames[at + 1] ?? "plan");
  };
  return (
    <Page
      title={t.title}
      trail={
        <Link to="/rollouts" search={{}}>
          {rollouts.title}
        </Link>
      }
    >
      <StepList shown={shown} seen={seen} draft={draft} go={go} />
      <div className={style["layout"]}>
        <Card title={t.steps[shown] ?? ""}>
          <form className={style["form"]} onSubmit={next} noValidate>
            {shown === "what" && <WhatStep draft={draft} edit={edit} />}
            {shown === "who" && <WhoStep draft={draft} edit={edit} />}
            {shown === "how" && <HowStep draft={draft} edit={edit} />}
            {shown === "when" && <WhenStep draft={draft} edit={edit} />}
            {shown === "plan" && <PlanText draft={draft} />}
            {tried === shown && problems.length > 0 && (
              <div role="alert">
                <ul className={style["problems"]}>
                  {problems.map((problem) => (
                    <li key={problem}>{t[problem]}</li>
                  ))}
                </ul>
              </div>
            )}
            <Foot shown={shown} draft={draft} go={go} />
          </form>
        </Card>
        <div className={style["aside"]}>
          <Card title={t.whoGetsIt}>
            <Plan draft={draft} isQuery={isQuery} />
          </Card>
        </div>
      </div>
    </Page>
  );
}

interface StepListProps {
  readonly shown: StepName;
  /** The last step that was seen: those behind it are not done, even if they begin with what would do. */
  readonly seen: number;
  readonly draft: Draft;
  readonly go: (name: StepName) => void;
}

function StepList({ shown, seen, draft, go }: StepListProps) {
  return (
    <nav aria-label={t.stepList}>
      <ol className={style["steps"]}>
        {stepNames.map((name, index) => {
          const done = name !== "plan" && index <= seen && problemsOf(name, draft, Date.now(), isQuery).length === 0;
          return (
            <li key={name}>
              <button
                type="button"
                className={style["step"]}
                aria-current={name === shown ? "step" : undefined}
                data-done={done && name !== shown}
                onClick={() => go(name)}
              >
                <span aria-hidden>{done && name !== shown ? "✓" : index + 1}</span>
                {t.steps[name]}
              </button>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

function Foot({ shown, draft, go }: { shown: StepName; draft: Draft; go: (name: StepName) => void }) {
  const navigate = route.useNavigate();
  const create = async () => {
    const made = await change(r.rollouts.create, { body: bodyOf(draft) });
    sessionStorage.removeItem(keyOf() ?? "");
    toast(t.created(made.name));
    await navigate({ to: "/rollouts/$rolloutId", params: { rolloutId: String(made.id) }, search: {} });
    await invalidate("rollouts");
  };
  const { busy, error, start } = useRun(create, () => undefined);
  const open = firstOpen(draft, Date.now(), isQuery);
  const why = open === "plan" ? undefined : t[problemsOf(open, draft, Date.now(), isQuery)[0] ?? "mustName"];
  const before = stepNames[stepNames.indexOf(shown) - 1];
  return (
    <>
      <Refusal error={error} />
      <div className={style["foot"]}>
        {before === undefined ? <span /> : <Button onClick={() => go(before)}>{t.back}</Button>}
        {shown === "plan" ? (
          <Button look="primary" why={busy ? dialogs.asked : why} onClick={start}>
            {busy ? dialogs.asked : t.create}
          </Button>
        ) : (
          <Button look="primary" type="submit">
            {t.next}
          </Button>
        )}
      </div>
    </>
  );
}
