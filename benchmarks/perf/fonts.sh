# Make the subsets of fonts in virl/pages/faces/ again, on Debian. Their licences are in that folder.
apt-get download fonts-open-sans fonts-crosextra-caladea fonts-roboto-unhinted fonts-roboto-slab \
    fonts-comfortaa fonts-noto-cjk
for package in *.deb; do dpkg -x "$package" fonts; done
pip install fonttools
python - > cjk.txt <<'EOF'
from virl.towns.life.signs import all_sign_characters

def rows(codec, leads, trails):
    for lead in leads:
        for trail in trails:
            try:
                yield bytes([lead, trail]).decode(codec)
            except UnicodeDecodeError:
                pass

low, high = range(0x40, 0x7F), range(0xA1, 0xFF)
print("".join(sorted({
    *rows("gb2312", range(0xB0, 0xD8), high),           # common simplified characters
    *rows("big5", range(0xA4, 0xC7), (*low, *high)),    # common traditional ones
    *rows("euc_jp", range(0xB0, 0xD0), high),           # JIS level 1
    *rows("euc_kr", range(0xB0, 0xC9), high),           # common hangul syllables
    *all_sign_characters(), *"舖囍咭",
})))
EOF
latin="U+20-7E,U+A0-17F,U+192,U+1A0-1A1,U+1AF-1B0,U+218-21B,U+300-303,U+309,U+323,U+370-3FF,U+400-45F"
latin="$latin,U+490-491,U+1E80-1E85,U+1EA0-1EF9,U+2010-2015,U+2018-201E,U+2020-2022,U+2026,U+2030"
latin="$latin,U+2039-203A,U+20AC,U+2116,U+2122"
subset() {  # source, target
    pyftsubset "fonts/usr/share/fonts/$1" --unicodes="$latin" --layout-features=kern,mark,mkmk,ccmp \
        --no-hinting --name-IDs=0,13,14 --output-file="$2"
}
subset truetype/open-sans/OpenSans-Bold.ttf OpenSans-Bold.ttf
subset truetype/crosextra/Caladea-Bold.ttf Caladea-Bold.ttf
subset truetype/roboto/unhinted/RobotoCondensed-Bold.ttf RobotoCondensed-Bold.ttf
subset opentype/roboto/slab/RobotoSlab-Bold.otf RobotoSlab-Bold.otf
subset truetype/comfortaa/Comfortaa-Bold.ttf Round-Bold.ttf   # its name is reserved, so it goes without
pyftsubset fonts/usr/share/fonts/opentype/noto/NotoSansCJK-Bold.ttc --font-number=2 --text-file=cjk.txt \
    --unicodes="U+20-7E,U+A0-FF,U+3000-303F,U+3041-30FF,U+FF01-FF5E,U+2018-201E,U+2026,U+2014,U+2022" \
    --no-hinting --layout-features= --name-IDs=0,13,14 --output-file=CJK-Bold.otf
for script in arabic hebrew devanagari thai; do      # Noto Sans, bold
    npm pack "@expo-google-fonts/noto-sans-$script"
    mkdir -p "$script" && tar xzf expo-google-fonts-noto-sans-$script-*.tgz -C "$script"
done
common="U+20-7E,U+A0-FF,U+200C-200F,U+2018-201E,U+2022,U+2026,U+25CC"
shaped() {  # script, target, characters
    pyftsubset "$1"/package/700Bold/*.ttf --unicodes="$common,$3" --no-hinting --name-IDs=0,13,14 --output-file="$2"
}
shaped arabic Arabic-Bold.ttf U+600-6FF,U+750-77F
shaped hebrew Hebrew-Bold.ttf U+590-5FF,U+FB1D-FB4F
shaped devanagari Devanagari-Bold.ttf U+900-97F,U+1CD0-1CFF,U+A8E0-A8FF
shaped thai Thai-Bold.ttf U+E00-E7F
