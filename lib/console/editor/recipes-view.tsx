// Recipes: the cookbook as a wizard. The user chooses a recipe, fills in its addresses, and receives rules with tests in a new file.

import { createMemo, createResource, createSignal, For, Show } from 'solid-js';
import { messageOf } from '../../model/error.ts';
import type { EditResult, FilledRecipe, RecipeList } from '../../wire/http/editing-shapes.ts';
import { createLiveValues } from '../hub/live-values.ts';
import { getJson, postJson } from '../hub/page-request.ts';
import { linkTo, navigate, route, setParams } from '../page/route.ts';
import { formatValue } from '../page/units.ts';
import { AddressField } from '../parts/address-input.tsx';
import { Fault, Search, searched } from '../parts/view-bar.tsx';
import { SavePanel } from './save-panel.tsx';
import { type FileEdit, type Mode, sendEdit } from './source-file.ts';

type Recipe = RecipeList['recipes'][number];
type Variable = Recipe['variables'][number];

const valuesPerSecond = 4;

export default function Recipes() {
  const [all] = createResource(() => getJson<RecipeList>('/hub/recipes'));
  const chosen = () => all()?.recipes.find(({ name }) => name === route().params.recipe);
  return (
    <>
      <div class="bar">
        <h1>Recipes</h1>
        <Show when={chosen()} fallback={<Search label="Search recipes" placeholder="Search by name or description" />}>
          <a href={linkTo('recipes')}>All recipes</a>
        </Show>
        <a href={linkTo('flows')}>Flows</a>
      </div>
      <Fault text={all.error ? messageOf(all.error) : ''} />
      <div class="scroll sheet">
        <Show when={chosen()} fallback={<Topics recipes={all()?.recipes ?? []} />} keyed>
          {(recipe) => <Form recipe={recipe} />}
        </Show>
      </div>
    </>
  );
}

function Topics(props: { readonly recipes: readonly Recipe[] }) {
  const matching = createMemo(() =>
    props.recipes.filter(({ name, about }) =>
      `${name} ${about.join(' ')}`.toLowerCase().includes(searched().toLowerCase()),
    ),
  );
  const topics = () => [...new Set(matching().map(({ name }) => name.split('/')[0]!))];
  return (
    <For each={topics()}>
      {(topic) => (
        <section class="topic">
          <h2>{topic}</h2>
          <ul>
            <For each={matching().filter(({ name }) => name.startsWith(`${topic}/`))}>
              {({ name, about }) => (
                <li>
                  <a href={linkTo('recipes', { recipe: name })}>{titleOf(name)}</a>
                  <br />
                  {about[0]}
                </li>
              )}
            </For>
          </ul>
        </section>
      )}
    </For>
  );
}

function titleOf(name: string): string {
  return name
    .split('/')[1]!
    .replaceAll('-', ' ')
    .replace(/^./, (first) => first.toUpperCase());
}

function Form(props: { readonly recipe: Recipe }) {
  const [own, setOwn] = createSignal(props.recipe.name.split('/')[1]!);
  const [given, setGiven] = createSignal<Readonly<Record<string, string>>>({});
  const [answer, setAnswer] = createSignal<EditResult>();
  const [failure, setFailure] = createSignal('');
  const [note, setNote] = createSignal('');
  const addresses = () => Object.values(given()).filter((value) => value.includes('/'));
  const values = createLiveValues(addresses, () => valuesPerSecond);
  let edits: readonly FileEdit[] = [];
  let asked = 0;
  const fill = async () => {
    const number = ++asked;
    setFailure('');
    setAnswer(undefined);
    try {
      const filled = await postJson<FilledRecipe>(`/hub/recipes/${props.recipe.name}`, { as: own(), set: given() });
      const next: FileEdit[] = [{ file: filled.file, base: '', ops: [{ path: '', text: filled.text }] }];
      const found = await sendEdit(next, 'check');
      if (number !== asked) return;
      edits = next;
      setAnswer(found);
    } catch (error) {
      if (number === asked) setFailure(messageOf(error));
    }
  };
  const set = (name: string, value: string) => {
    const { [name]: _, ...others } = given();
    setGiven(value === '' ? others : { ...others, [name]: value });
    void fill();
  };
  void fill();
  return (
    <form
      class="rule-sheet recipe"
      ref={(form) => queueMicrotask(() => form.querySelector('input')?.focus())}
      onSubmit={(event) => event.preventDefault()}
      aria-label={titleOf(props.recipe.name)}
    >
      <div>
        <h2>{titleOf(props.recipe.name)}</h2>
        <For each={props.recipe.about}>{(line) => <p>{line}</p>}</For>
        <fieldset>
          <legend>Your parameters</legend>
          <Show when={props.recipe.variables.some(({ isAddress }) => isAddress)}>
            <small>Leave a field empty to try the recipe with a stand-in for that device.</small>
          </Show>
          <For each={props.recipe.variables}>
            {(variable) => (
              <Slot
                variable={variable}
                value={given()[variable.name] ?? ''}
                values={values}
                set={(value) => set(variable.name, value)}
              />
            )}
          </For>
        </fieldset>
        <fieldset>
          <legend>New file</legend>
          <p class="fields">
            <input
              type="text"
              class="address mono"
              aria-label="Name of the new file"
              spellcheck={false}
              value={own()}
              onChange={(event) => {
                setOwn(event.currentTarget.value.trim());
                void fill();
              }}
            />
            <span class="muted">.json5</span>
          </p>
        </fieldset>
      </div>
      <SavePanel
        note={note()}
        setNote={setNote}
        answer={answer()}
        isChanged={true}
        failure={failure()}
        send={(mode: Mode, comment) => sendEdit(edits, mode, comment)}
        rebase={() => void fill()}
        discard={() => setParams({ recipe: undefined })}
        saved={() => navigate('flows', { search: `${own()}.json5` })}
      />
    </form>
  );
}

/** A field for a variable of a recipe. If the user leaves an address empty, the recipe uses a stand-in, which is a parameter of a dummy. */
function Slot(props: {
  readonly variable: Variable;
  readonly value: string;
  readonly values: ReturnType<typeof createLiveValues>;
  set(value: string): void;
}) {
  const { name, about, usual, isAddress } = props.variable;
  const words = { B: 'true or false', I: 'integer', F: 'number', S: 'text', T: 'trigger' };
  const present = () => props.values.of(props.value).value();
  const type = () => props.values.of(props.value).kind()?.type;
  const label = about.replace(/^./, (first) => first.toUpperCase());
  return (
    <div class="slot">
      <span id={`slot-${name}`}>
        {label} <Show when={props.variable.type}>{(known) => <small>{words[known()]}</small>}</Show>
      </span>
      <p class="fields">
        <Show
          when={isAddress}
          fallback={
            <input
              type="text"
              class="short mono"
              aria-label={label}
              placeholder={usual}
              value={props.value}
              onChange={(event) => props.set(event.currentTarget.value.trim())}
            />
          }
        >
          <AddressField
            label={label}
            address={props.value}
            placeholder={`a stand-in for ${usual}`}
            choose={props.set}
          />
        </Show>
        <output class="now">
          <Show when={type()}>
            {(known) => (
              <>
                <strong class="mono">{present() === undefined ? '' : formatValue(present())}</strong>{' '}
                <small>{words[known()]}</small>
              </>
            )}
          </Show>
        </output>
      </p>
    </div>
  );
}
