# SPDX-FileCopyrightText: 2026 The symdp_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of `symdp explore` in a real browser, without a window."""
import json
import shutil

from explored_page import in_short_time, make_page, WITHOUT_POSITIONS
import pytest

CHROMIUM = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser',
                                                'google-chrome'))), None)
DRIVER = shutil.which('chromedriver')
if not (CHROMIUM and DRIVER):
    pytest.skip('Chromium and its driver are not installed', allow_module_level=True)
webdriver = pytest.importorskip('selenium.webdriver')
keys = pytest.importorskip('selenium.webdriver.common.keys').Keys
WIDTHS, SCHEMES = (390, 1440), ('light', 'dark')


@pytest.fixture(scope='module')
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ('--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
                     '--disable-quic', '--no-first-run', '--disable-background-networking',
                     '--disable-component-update', '--disable-sync',
                     f'--user-data-dir={tmp_path_factory.mktemp("profile")}'):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL', 'performance': 'ALL'})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def page(browser, made, request):
    """Return the browser with the page, freshly opened: 1440 wide and light unless asked."""
    width, scheme, *height = getattr(request, 'param', (1440, 'light'))
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', {'features': [
        {'name': 'prefers-color-scheme', 'value': scheme}]})
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', {
        'width': width, 'height': [*height, 900][0], 'deviceScaleFactor': 1,
        'mobile': width < 500})
    browser.get_log('browser')
    browser.get_log('performance')
    browser.get(made[0].as_uri())
    yield browser
    assert browser.get_log('browser') == []  # neither errors nor what was blocked
    requests = [json.loads(entry['message'])['message'] for entry in
                browser.get_log('performance')]
    asked = {request['params']['request']['url'] for request in requests
             if request['method'] == 'Network.requestWillBeSent'
             and not request['params']['documentURL'].startswith('chrome')}  # its first page
    assert asked <= {made[0].as_uri()}


def element(page, name):
    return page.find_element('id', name)


def text(page, name):
    return element(page, name).text


def shown(cell):
    """Return how the page writes the numbers of a cell."""
    def percent(share):
        return f'{int(100 * share + 0.5)} %'

    guess = cell['guess']
    return {'wrong': percent(cell['wrong']), 'off': f'{cell["metres"]:.1f} m',
            'guess': f'{percent(guess[0])} → {percent(guess[1])}' if guess else 'not computed'}


def numbers(page):
    return {name: text(page, name) for name in ('wrong', 'off', 'guess')}


def cell_of(data, *, stay='8', protect='4', k=1, zoned=0, mechanism='adaptive', late=0,
            epsilon='3'):
    return data['cells'][f'{stay}/{protect}/{k}/{zoned}/{mechanism}/{late}/{epsilon}']


def test_what_it_says_first(page, data):
    assert page.title == 'What others can learn: r&d <house>.regions.yaml'
    assert text(page, 'blurred') == 'Blurred at ε = 3'
    assert text(page, 'hidden') == 'Where the robot was during any 4 s.'
    assert text(page, 'certainty') == (
        f'Promised: {data["certainty"]["3"]}, for one visit of 4 s.')
    assert '95.3 % sure' in text(page, 'certainty')
    assert text(page, 'promise') == (
        'Take two routes that differ only during those 4 s. What others see is at most e^3 times '
        'as likely for one as for the other (e^3 ≈ 20).')
    assert 'Whoever watches for long still sees roughly where the robot goes' in text(page, 'seen')
    assert 'not the route' in text(page, 'alike') and 'in a place' not in text(page, 'alike')
    assert numbers(page) == shown(cell_of(data))
    assert text(page, 'promised') == '95.3 %'


@pytest.mark.parametrize('page', [(1280, 'light', 800), (390, 'light', 844)], indirect=True,
                         ids=lambda value: str(value))
def test_what_is_chosen_what_comes_of_it_and_the_map_are_on_one_screen(page, request):
    width, _, height = request.node.callspec.params['page']
    bottoms = {name: element(page, name).rect['y'] + element(page, name).rect['height']
               for name in ('cards', 'controls', 'map', 'time', 'bar')}
    assert max(bottoms.values()) <= height, bottoms
    assert element(page, 'map').rect['height'] >= 150
    assert element(page, 'map').rect['width'] >= 0.6 * width
    size = {name: float(element(page, name).value_of_css_property('font-size')[:-2])
            for name in ('promised', 'wrong', 'off', 'guess')}
    assert size['promised'] >= max(size.values())
    for name in size:  # nothing is cut off
        assert page.execute_script('return arguments[0].scrollWidth <= arguments[0].clientWidth',
                                   element(page, name))


@pytest.mark.parametrize('page', [(width, 'light') for width in WIDTHS], indirect=True)
def test_places_are_named_on_the_map(page, data):
    names = page.execute_script(  # all at once: they are written anew when the map has its size
        'return [...document.querySelectorAll("#names text")].map(name => {'
        '  const {x, y, width, height} = name.getBoundingClientRect();'
        '  return [name.textContent, {x, y, width, height}]; })')
    assert {name for name, _ in names} == {*data['map']['states']}
    boxes = [box for _, box in names]
    for i, box in enumerate(boxes):
        assert box['height'] >= 10
        for other in boxes[:i]:
            assert any(one[at] + one[size] <= two[at] for at, size in (('x', 'width'),
                       ('y', 'height')) for one, two in ((box, other), (other, box)))


def test_longer_stays(page, data):
    """The typical one, too, unless a visit is protected that is as long."""
    def longer():
        [line] = [line for line in text(page, 'seen').splitlines() if line.startswith('Longer')]
        return line

    assert data['longer']['8/4/1'] == [[8, 2], [40, 9]]
    assert longer() == (
        'Longer stays. One of 8 s, the typical one, costs 2·ε = 6: the observer of the promise '
        'can then be at most 99.8 % sure. One of 40 s costs 9·ε = 27: practically sure.')
    element(page, 'symbols').send_keys(keys.ARROW_RIGHT)
    assert 'One of 8 s, the typical one, costs 1.5·ε = 4.5:' in longer()  # 3 symbols of ε/2
    element(page, 'protect').send_keys(keys.ARROW_RIGHT)
    assert 'the typical one' not in longer() and 'One of 80 s costs' in longer()


def test_what_is_measured(page, data):
    """Of robots that stay long it is more than what is promised of one visit: e / (1 + e)."""
    element(page, 'epsilon').send_keys(keys.ARROW_LEFT)
    for stay, more in ('8', False), ('60', True):
        after = cell_of(data, epsilon='1', stay=stay)['guess'][1]
        said = text(page, 'measured')
        assert f'is right {int(100 * after + .5)} % of the time' in said
        assert ('higher than promised' in said) == (after > 0.7311) == more
        element(page, 'stay').send_keys(keys.ARROW_RIGHT)


def test_the_clock_is_explained(page, data):
    assert 'further' not in page.find_element('tag name', 'main').text
    for late, delay in (0, 'at once'), (1, '5 s later'):
        cell = cell_of(data, late=late)
        assert text(page, 'delay-value') == delay
        said = text(page, 'clock-text')
        assert f'get a place every {cell["report"]:g} s. It follows from the looks' in said
        assert 'at ε = 3' in said
        assert ('moves as the map allows' in said) == (cell['report'] == data['tick'])
        assert (f'at most {cell["moves"]} move' in said) == ('moves: ' in cell['files'])
        element(page, 'delay').send_keys(keys.ARROW_RIGHT)
    assert 'hides no more' in text(page, 'delay-text')
    assert 'k = 1' in text(page, 'symbols-text') and 'A look: ' in text(page, 'symbols-text')


def test_sliders_by_keyboard(page, data):
    for name in ('epsilon', 'protect', 'stay', 'symbols', 'delay'):
        element(page, name).send_keys(keys.ARROW_RIGHT)
        assert text(page, f'{name}-value') == element(page, name).get_attribute('aria-valuetext')
    assert text(page, 'epsilon-value') == '8' and text(page, 'protect-value') == 'any 8 s'
    assert numbers(page) == shown(cell_of(data, stay='60', protect='8', k=2, late=1,
                                          epsilon='8'))
    assert 'practically sure' in text(page, 'certainty')
    assert 'those 8 s' in text(page, 'promise') and 'e^8' in text(page, 'promise')
    for _ in range(2):
        element(page, 'epsilon').send_keys(keys.ARROW_LEFT)
    assert '73.1 % sure' in text(page, 'certainty')
    assert numbers(page) == shown(cell_of(data, stay='60', protect='8', k=2, late=1,
                                          epsilon='1'))


def test_sliders_by_mouse(page, data):
    from selenium.webdriver.common.action_chains import ActionChains

    slider = element(page, 'epsilon')
    page.execute_script('arguments[0].scrollIntoView({block: "center"})', slider)
    ActionChains(page).move_to_element_with_offset(
        slider, slider.size['width'] // 2 - 3, 0).click().perform()
    assert text(page, 'epsilon-value') == '8'
    assert numbers(page) == shown(cell_of(data, epsilon='8'))
    rows = [row.text for row in element(page, 'table').find_elements('tag name', 'tr')]
    assert len(rows) == 4 and rows[3].startswith('8')
    assert 'here' in element(page, 'table').find_elements('tag name', 'tr')[3].get_attribute(
        'class')


@pytest.mark.parametrize('mechanism, late', [
    ('guided', 0), ('causal, adaptive', 'log'), ('exponential', 'log')])
def test_mechanisms(page, data, mechanism, late):
    from selenium.webdriver.support.select import Select

    Select(element(page, 'mechanism')).select_by_value(mechanism)
    cell = cell_of(data, mechanism=mechanism, late=late)
    assert numbers(page) == shown(cell) and not element(page, 'delay').is_enabled()
    assert element(page, 'files').get_attribute('textContent') == cell['files']
    assert (text(page, 'measured') == '') == (cell['guess'] is None) == (
        'try all routes' in text(page, 'numbers-text'))
    assert ('no shades' in text(page, 'belief-text')) == (cell['beliefs'] is None)


def test_zones(page, data):
    from selenium.webdriver.support.select import Select

    Select(element(page, 'zones')).select_by_value('1')
    assert numbers(page) == shown(cell_of(data, zoned=1))
    assert text(page, 'hidden') == 'Which place of its zone the robot was in, during any 4 s.'
    assert 'through the same zones at the same times' in text(page, 'promise')
    assert 'is told exactly' in text(page, 'seen')
    options = {option.get_attribute('value'): option.is_enabled() for option in
               Select(element(page, 'mechanism')).options}
    assert options == {'adaptive': True, 'guided': False,
                       'causal, adaptive': True, 'exponential': True}
    # With a mechanism that knows no zones, another one is taken.
    Select(element(page, 'zones')).select_by_value('0')
    Select(element(page, 'mechanism')).select_by_value('guided')
    Select(element(page, 'zones')).select_by_value('1')
    assert element(page, 'mechanism').get_attribute('value') == 'adaptive'
    assert numbers(page) == shown(cell_of(data, zoned=1))


def test_the_routes_move(page, data):
    true = [state for state, count in zip(data['routes'][0]['true'][::2],
                                          data['routes'][0]['true'][1::2]) for _ in range(count)]
    private = [state for state, count in zip(*[iter(cell_of(data)['private'])] * 2)
               for _ in range(count)]
    names, time = data['map']['states'], element(page, 'time')
    time.send_keys(keys.HOME)
    for _ in range(40):
        time.send_keys(keys.ARROW_RIGHT)
    assert text(page, 'clock') == '0:40 min'
    assert text(page, 'at-true') == names[true[40]]
    right = 'right' if private[40] == true[40] else 'wrong'
    assert text(page, 'at-private') == f'{names[private[40]]}, {right}'
    x, y = data['map']['places'][true[40]]
    mark = element(page, 'mark-true')
    assert mark.get_attribute('transform') == f'translate({x:g},{-y:g})'
    frame = cell_of(data)['beliefs'][40 // data['routes'][0]['frame']]
    shades = [float(area.get_attribute('fill-opacity')) for area in page.find_elements(
        'css selector', '#map polygon')]
    assert [i for i, shade in enumerate(shades) if shade] == sorted(frame[::2])
    assert shades[frame[0]] == pytest.approx(0.3 + 0.65 * frame[1] / 100, abs=0.006)
    page.execute_script('arguments[0].click()', element(page, 'play'))
    from selenium.webdriver.support.wait import WebDriverWait
    WebDriverWait(page, 60).until(lambda page: text(page, 'clock') not in ('0:40 min', '0:41 min'))
    element(page, 'play').send_keys(keys.SPACE)  # pauses
    assert text(page, 'play') == '▶ Play'


def test_the_copy_button(page, data):
    page.execute_cdp_cmd('Browser.grantPermissions', {
        'permissions': ['clipboardReadWrite', 'clipboardSanitizedWrite']})
    element(page, 'copy').send_keys(keys.ENTER)
    from selenium.webdriver.support.wait import WebDriverWait
    WebDriverWait(page, 60).until(lambda page: text(page, 'copied'))
    assert text(page, 'copied') == '✓ Copied.'
    assert element(page, 'copy').get_attribute('class') == 'copied'
    copied = page.execute_async_script(
        'navigator.clipboard.readText().then(arguments[0], error => arguments[0](String(error)))')
    assert copied == cell_of(data)['files'] and 'ros2 launch symdp_ros' in copied
    element(page, 'epsilon').send_keys(keys.ARROW_LEFT)  # something else than was copied
    assert not text(page, 'copied') and not element(page, 'copy').get_attribute('class')


@pytest.mark.parametrize('page', [(width, scheme) for width in WIDTHS for scheme in SCHEMES],
                         indirect=True, ids=lambda value: str(value))
def test_nothing_is_cut_off_and_colours_follow_the_scheme(page, request):
    width, scheme = request.node.callspec.params['page']
    found = page.execute_script("""
        const boxes = [...document.querySelectorAll(
            '.panel, .control, .card, figure, svg, button')].map(
            one => one.getBoundingClientRect());
        return {scroll: document.documentElement.scrollWidth,
                right: Math.max(...boxes.map(box => box.right)),
                left: Math.min(...boxes.map(box => box.left)),
                wide: [...document.querySelectorAll('.panel, .control, .card, label, td, th, pre')]
                    .filter(one => one.scrollWidth > one.clientWidth + 1 && one.clientWidth)
                    .map(one => one.textContent.slice(0, 40)),
                paper: getComputedStyle(document.body).backgroundColor,
                ink: getComputedStyle(document.body).color}""")
    assert found['scroll'] <= width and 0 <= found['left'] and found['right'] <= width
    assert found['wide'] == []
    red_of = {name: int(found[name].partition('(')[2].partition(',')[0])
              for name in ('paper', 'ink')}
    assert (red_of['paper'] > 200 > red_of['ink']) == (scheme == 'light')


@pytest.mark.parametrize('page', [(width, 'light') for width in WIDTHS], indirect=True)
def test_bars_and_scale_are_drawn_where_they_belong(page, data):
    """The line in the bars stands below the thumb; the scale is as long as it says."""
    last = sum(data['routes'][0]['true'][1::2]) - 1
    for t in 0, 20, last:
        found = page.execute_script("""
            const time = document.getElementById('time');
            time.value = arguments[0];
            time.dispatchEvent(new Event('input'));
            const box = one => document.querySelector(one).getBoundingClientRect();
            const now = box('.now'), thumb = box('#time'), width = 16;
            return {now: (now.left + now.right) / 2,
                    thumb: thumb.left + width / 2 + (thumb.width - width) * arguments[0]
                        / arguments[1], thumbs: thumb.bottom, bars: box('#bar').top,
                    scale: box('.scale').width, map: box('#map polygon').width,
                    places: getComputedStyle(time).appearance}""", t, last)
        assert found['now'] == pytest.approx(found['thumb'], abs=1)
    assert found['bars'] >= found['thumbs'] and found['places'] == 'none'
    metres = float(text(page, 'metres').removesuffix(' m'))
    assert metres in (1, 2, 5) and 40 < found['scale'] <= 121
    assert found['scale'] / metres == pytest.approx(found['map'] / 4, rel=0.05)  # with its line


def test_a_map_that_knows_stays_and_no_metres(page, tmp_path):
    with in_short_time():
        written = make_page(tmp_path, **WITHOUT_POSITIONS)[0]
    page.get(written.as_uri())
    assert not element(page, 'scale').is_displayed()
    assert 'Here it stays about' in text(page, 'alike')
    assert 'One of 50 s costs 9·ε = 27' in text(page, 'seen')
    table = element(page, 'same')
    assert table.get_property('scrollWidth') == table.get_property('clientWidth')
    page.get_log('performance')  # of another file than others are


@pytest.mark.parametrize('page', [(390, 'light')], indirect=True)
def test_everything_is_reached_by_the_keyboard(page):
    """In the order in which it stands on the page."""
    page.execute_script('document.activeElement.blur()')
    reached = []
    for _ in range(12):
        page.switch_to.active_element.send_keys(keys.TAB)
        if page.switch_to.active_element.get_attribute('id') == 'more':
            page.switch_to.active_element.send_keys(keys.SPACE)  # opens it
        reached.append(page.switch_to.active_element.get_attribute('id'))
    assert reached == ['epsilon', 'protect', 'stay', 'more', 'symbols', 'delay', 'zones',
                       'mechanism', 'play', 'time', 'copy', 'files']
